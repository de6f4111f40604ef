sdc 1
#! expect method=rounding objective=24 deviations="I·A 0, I·B 0, I·C 0, II·A 2, II·B 1, II·C -2, III·A 3, III·B -2, III·C -2, Total·C -4, Total·Total 0"
policy "Known answer: Figure 8 of paper 003, the only best of all roundings to base 10; levels 5 / 8 / 0, cost 1"

dimension activity {
  codes I, II, III
  total Total
}

dimension region {
  codes A, B, C
  total Total
}

# Figure 1 of the unified framework for several attackers (paper 003).
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

protect investment {
  lpl 5
  upl 8
  against external
  cost 1
  method rounding {
    base 10
  }
}
