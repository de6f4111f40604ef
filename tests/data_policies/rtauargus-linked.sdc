sdc 1
policy "French business turnover: the tables that share cells, protected together"

dimension ACTIVITY {
  hierarchy columns "activity_corr_table.csv" {
    levels A10, A21, A88
  }
  total Total
}

dimension NUTS {
  hierarchy columns "nuts23_fr_corr_table.csv"
  total Total
}

dimension SIZE {
  codes tr1, tr2, tr3
  total Total
}

dimension CJ {
  codes LL, PA, SP
  total Total
}

data act_size {
  csv "turnover_act_size.csv"
}

data act_cj {
  csv "turnover_act_cj.csv"
}

data nuts_size {
  csv "turnover_nuts_size.csv"
}

table by_size {
  from act_size
  by ACTIVITY, SIZE
  value TOT
  count N_OBS
  largest(1) MAX
  measure turnover
}

table by_form {
  from act_cj
  by ACTIVITY, CJ
  value TOT
  count N_OBS
  largest(1) MAX
  measure turnover
}

table by_region {
  from nuts_size
  by NUTS, SIZE
  value TOT
  count N_OBS
  largest(1) MAX
  measure turnover
}

sensitive by threshold(3)
sensitive by dominance(n: 1, k: 85%)

attacker external {
  bounds 0 .. inf
}

protect by_size, by_form, by_region as turnover {
  lpl needed
  upl max(needed, 10)
  against external
  cost sqrt(value)
  method csp
}
