sdc 1
# Named cells that nobody protects.

dimension activity {
  codes I, II, III
  total Total
}

dimension region {
  codes A, B, C
  total Total
}

table investment {
  by activity, region
  values
    | activity \ region |  A |   B |  C | Total |
    | I                 | 20 |  50 | 10 |    80 |
    | II                |  8 |  19 | 22 |    49 |
    | III               | 17 |  32 | 12 |    61 |
    | Total             | 45 | 101 | 44 |   190 |
}

sensitive investment at (activity: II, region: C)

attacker external {
  bounds 0 .. inf
}

table jobs {
  by activity
  values
    | activity | value |
    | I        |     1 |
    | II       |     2 |
    | III      |     3 |
}

protect jobs {
  lpl 1
  upl 1
  against external
  method csp
}
