sdc 1
policy "Soak"
seed 287549

dimension area {
  hierarchy tree
    - Total
      - aA
      - aB
      - aC
        - aC1
        - aC2
        - aC3
      - aD
}

dimension kind {
  codes kA, kB
  total Total
}

data records {
  csv "records.csv"
  column weight = "weight"
}

table main {
  from records
  by area, kind
  sum turnover
}

table other {
  from records
  by area
  sum turnover
}

sensitive by p_percent(10%)
sensitive by dominance(2, 85%)
sensitive main at (area: aC1, kind: kB)
sensitive main at (area: aC1, kind: kA)

attacker external {
  bounds 0 .. inf
}

protect main, other {
  against external
  lpl 0.1 * value
  upl max(1, 0.3 * value)
  method cta {
    time_limit 4 s
    norm L1L2
    sense down
    omega1 0.5
    squared where value > 20
    soft_totals 100
    backend scip
  }
  release csv "out.csv"
  release parquet "out.parquet"
}
