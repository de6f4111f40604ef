sdc 1
#! expect method=perturb objective=16 deviations="II·C 4"
policy "Known answer: ranges of 4 as in Figure 11 of paper 003, the sensitive cell at the upper end; levels 4 / 4 / 0, cost 1"

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
  lpl 4
  upl 4
  against external
  cost 1
  method perturb {
    range -4 .. 4
    end high
    cap_changed 4
  }
}
