sdc 1
# Two tables, and an address that fits neither.

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

table jobs {
  by activity
  values
    | activity | value |
    | I        |     1 |
    | II       |     2 |
    | III      |     3 |
}

sensitive at (region: C)

attacker external {
  bounds 0 .. inf
}

protect investment, jobs {
  lpl 10
  upl 12
  against external
  cost value
  method csp
}
