sdc 1
policy "A benchmark table, from microdata"

data source {
  csv "micro.csv"
}

dimension REG {
  hierarchy hrc "REG.hrc"
  total Total
}

dimension IND {
  hierarchy hrc "IND.hrc"
  total Total
}

dimension SIZE {
  hierarchy hrc "SIZE.hrc"
  total Total
}

table t {
  from source
  by REG, IND, SIZE
  sum value
  measure turnover
}

sensitive by threshold(3, level: 10%)
sensitive by p_percent(10%)

attacker external {
  bounds 0 .. inf
}

protect t {
  lpl needed
  upl needed
  against external
  cost value
  method csp {
    unions off
  }
}
