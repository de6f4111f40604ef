sdc 1
policy "Investment by activity and region: one cell to hide"

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
  unit "million EUR"
}

sensitive investment at (activity: II, region: C) because "one firm is known to make most of it"

attacker external {
  bounds 0 .. inf
}

protect investment {
  lpl 10
  upl 12
  against external
  cost value
  method csp
  release csv "investment.csv"
}
