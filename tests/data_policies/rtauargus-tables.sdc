sdc 1
policy "French business turnover, four ready-made tables: each on its own"

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

dimension EAST {
  hierarchy Total_EAST = FR41 + FR42 + FR43
  hierarchy FR41 = FR411 + FR412 + FR413 + FR414
  hierarchy FR42 = FR421 + FR422
  hierarchy FR43 = FR431 + FR432 + FR433 + FR434
  total Total_EAST
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

data act_nuts_size {
  csv "turnover_act_nuts_size.csv"
  column EAST = "NUTS"
}

table by_size {
  from act_size
  by ACTIVITY, SIZE
  value TOT
  count N_OBS
  largest(1) MAX
}

table by_form {
  from act_cj
  by ACTIVITY, CJ
  value TOT
  count N_OBS
  largest(1) MAX
}

table by_region {
  from nuts_size
  by NUTS, SIZE
  value TOT
  count N_OBS
  largest(1) MAX
}

table in_the_east {
  from act_nuts_size
  by ACTIVITY, EAST, SIZE
  value TOT
  count N_OBS
  largest(1) MAX
}

sensitive by threshold(3)
sensitive by dominance(n: 1, k: 85%)

attacker external {
  bounds 0 .. inf
}

protect by_size {
  lpl needed
  upl max(needed, 10)
  against external
  method csp
}

protect by_form {
  lpl needed
  upl max(needed, 10)
  against external
  method csp
}

protect by_region {
  lpl needed
  upl max(needed, 10)
  against external
  method csp
}

protect in_the_east {
  lpl needed
  upl max(needed, 10)
  against external
  method csp
}
