sdc 1
#! expect method=combined objective=767
policy "Known answer: the 3×3 table of paper 003, one part is interval protection; levels 5 / 8 / 0, cost value"

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
  cost value
  method combined {
    interval where value >= 0
  }
}
