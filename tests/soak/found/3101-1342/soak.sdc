sdc 1
policy "Soak"
seed 43608

table main {
  jj "table.jj"
}


attacker external {
  bounds 0 .. inf
}

attacker close {
  bounds 0.7 * value .. 1.5 * value + 3
}

attacker informed {
  bounds 50% of value .. 200% of value
}

protect main {
  against external, close, informed
  lpl 0.05 * value
  upl max(1, 0.15 * value)
  method combined {
    time_limit 4 s
    interval where value > 20 or not (value > 20)
    gap 1%
    unions off
  }
  release csv "out.csv"
  release parquet "out.parquet"
}
