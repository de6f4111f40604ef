sdc 1
policy "Soak"
seed 272412

dimension area {
  hierarchy hrc "area.hrc"
  total Total
}

dimension kind {
  hierarchy hrc "kind.hrc"
  total Total
}

data records {
  csv "records.csv"
  column unit = "unit"
  column weight = "weight"
}

table main {
  from records
  by area, kind
  sum turnover
}

sensitive by dominance(n: 1, k: 75%)
publish main at (area: aA, kind: Total)

attacker external {
  bounds 0 .. inf
}

attacker informed {
  bounds 50% of value .. 200% of value
}

protect main {
  against external, informed
  lpl 0.4 * value
  upl max(1, 0.05 * value)
  spl 0.2 * value
  cost up 1 + value
  cost down 2
  cost fixed 3
  method ip {
    time_limit 4 s
    gap 1%
  } else rounding {
    time_limit 4 s
    base 5000
    steps 2
    gap 5%
  }
  release csv "out.csv"
  release sdmx "out-sdmx.csv"
}
