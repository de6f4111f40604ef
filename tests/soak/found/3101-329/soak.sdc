sdc 1
policy "Soak"
seed 266974

dimension area {
  codes aA, aB
  total Total
}

dimension kind {
  codes kA, kB, kC
  total Total
}

dimension size {
  hierarchy hrc "size.hrc"
  total Total
}

data records {
  csv "records.csv"
  column unit = "unit"
}

table main {
  from records
  by area, kind, size
  sum turnover
}

sensitive by dominance(n: 1, k: 75%)
sensitive by pq(p: 10%, q: 60%)

attacker external {
  bounds 0 .. inf
}

protect main {
  against external
  lpl 0.1 * value
  upl max(1, 0.3 * value)
  spl 0.2 * value
  cost value
  method ip {
    time_limit 4 s
    cap_width 5 + 2 * value
  }
  release csv "out.csv"
}
