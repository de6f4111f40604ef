sdc 1
policy "Soak"
seed 681494

dimension area {
  hierarchy tree
    - Total
      - aA
      - aB
        - aB1
        - aB2
      - aC
}

dimension kind {
  hierarchy tree
    - Total
      - kA
        - kA1
        - kA2
      - kB
      - kC
        - kC1
        - kC2
        - kC3
      - kD
}

data records {
  csv "records.csv"
  column unit = "unit"
  column group = "group"
}

table main {
  from records
  by area, kind
  sum turnover
}

sensitive by contributors(n: 2)
sensitive by dominance(2, 85%)

attacker external {
  bounds 0 .. inf
}

attacker holding {
  each group
  knows own contribution
  bounds 0 .. inf
}

protect main {
  against external, holding
  lpl needed
  upl needed
  upl 0.05 * value against external
  cost 2
  method cta {
    time_limit 4 s
    norm L1L2
    sense free
    omega1 0.5
    squared where value > 20
    unions off
  }
  release csv "out.csv"
  release sdmx "out-sdmx.csv"
}
