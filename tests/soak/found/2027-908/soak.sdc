sdc 1
policy "Soak"
seed 833602

dimension area {
  hierarchy tree
    - Total
      - aA
      - aB
      - aC
}

dimension kind {
  hierarchy tree
    - Total
      - kA
      - kB
      - kC
}

data records {
  csv "records.csv"
  column unit = "unit"
  column group = "group"
  column weight = "weight"
}

table main {
  from records
  by area, kind
  sum turnover
  integer
}

sensitive by threshold(3)

attacker external {
  bounds 0 .. inf
}

attacker holding {
  each group
  knows own contribution
  bounds 0 .. inf
}

attacker informed {
  bounds 50% of value .. 200% of value
}

protect main {
  against external, holding, informed
  lpl 0.2 * value
  upl 0.05 * value
  method rounding {
    time_limit 4 s
    base 7e+08
  }
  release csv "out.csv"
  release html "out.html"
}
