sdc 1
policy "Soak"
seed 972077

dimension area {
  hierarchy hrc "area.hrc"
  total Total
}

dimension kind {
  codes kA, kB
  total Total
}

data records {
  csv "records.csv"
  column unit = "unit"
}

table main {
  from records
  by area, kind
  sum turnover
}

sensitive by contributors(n: 2)
sensitive by dominance(n: 1, k: 75%)
publish main at (area: aA, kind: Total)

attacker external {
  bounds 0 .. inf
}

attacker counting {
  bounds 0 .. inf
  knows zeros
}

attacker informed {
  bounds 50% of value .. 200% of value
}

protect main {
  against external, counting, informed
  lpl 0.1 * value
  upl max(1, 1.0 * value)
  upl 0.05 * value against informed
  cost value
  cost 10 * value where area = Total
  method ip {
    time_limit 4 s
    cap_width 5 + 2 * value
  }
  release csv "out.csv"
}
