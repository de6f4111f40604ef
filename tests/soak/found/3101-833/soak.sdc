sdc 1
policy "Soak"
seed 997716

dimension area {
  codes aA, aB, aC, aD
  total Total
}

dimension kind {
  codes kA, kB, kC, kD
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

sensitive by threshold(3)
sensitive by p_percent(10%)

attacker external {
  bounds 0 .. inf
}

attacker close {
  bounds 0.7 * value .. 1.5 * value + 3
}

protect main {
  against external, close
  lpl 0.2 * value
  upl max(1, 0.05 * value)
  upl 0.05 * value against close
  cost value
  method ip {
    time_limit 4 s
  }
  release csv "out.csv"
  release html "out.html"
}
