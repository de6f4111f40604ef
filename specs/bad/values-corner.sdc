sdc 1
# A corner with another dimension.

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
    | activity \ county |  A |   B |  C | Total |
    | I                 | 20 |  50 | 10 |    80 |
    | II                |  8 |  19 | 22 |    49 |
    | III               | 17 |  32 | 12 |    61 |
    | Total             | 45 | 101 | 44 |   190 |
}

sensitive investment at (activity: II, region: C)

attacker external {
  bounds 0 .. inf
}

protect investment {
  lpl 10
  upl 12
  against external
  cost value
  method csp
}
