sdc 1
policy "Soak"
seed 717732

dimension area {
  hierarchy hrc "area.hrc"
  total Total
}

dimension kind {
  hierarchy tree
    - Total
      - kA
      - kB
      - kC
      - kD
        - kD1
        - kD2
        - kD3
}

data ready {
  csv "cells.csv"
}

table main {
  from ready
  by area, kind
  value turnover
  count n
  largest(1) first
  largest(2) second
}

sensitive by dominance(n: 1, k: 75%)

attacker external {
  bounds 0 .. inf
}

attacker informed {
  bounds 50% of value .. 200% of value
}

protect main {
  against external, informed
  lpl needed
  upl needed
  cost 2
  method ecta {
    time_limit 4 s
    alpha 100%
    tries 15
    norm Linf
    sensitive_free
    fix_at_a_time 3
    unions off
  }
  release csv "out.csv"
}
