sdc 1
policy "Soak"
seed 104667

dimension area {
  hierarchy tree
    - Total
      - aA
      - aB
        - aB1
        - aB2
        - aB3
      - aC
      - aD
        - aD1
        - aD2
}

dimension kind {
  hierarchy tree
    - Total
      - kA
        - kA1
        - kA2
      - kB
      - kC
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

sensitive by dominance(2, 85%)

attacker external {
  bounds 0 .. inf
}

protect main {
  against external
  lpl needed
  spl 0.2 * value
  cost value
  method ip {
    time_limit 4 s
    cap_width 5 + 2 * value
  }
  release csv "out.csv"
}
