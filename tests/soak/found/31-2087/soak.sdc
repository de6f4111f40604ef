sdc 1
policy "Soak"
seed 404917

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

sensitive by dominance(n: 1, k: 75%)

attacker external {
  bounds 0 .. inf
}

protect main, other {
  against external
  lpl 0.2 * value
  upl max(1, 0.3 * value)
  spl 0.8 * value
  cost log(1 + value)
  method rounding {
    time_limit 4 s
    base 5000
    backend scip
  } else ip {
    time_limit 4 s
  }
  release csv "out.csv"
}
