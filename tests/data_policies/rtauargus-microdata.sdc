sdc 1
policy "French enterprises: weighted turnover by activity and size, from microdata"

data enterprises {
  csv "indiv_dt.csv"
  column weight = "WEIGHT"
  column ACTIVITY = "A88"
}

# The file writes its activities without leading zeros, other than the correspondence table: its own columns are the tree.
dimension ACTIVITY {
  hierarchy columns "indiv_dt.csv" {
    levels A10, A21, A88
  }
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

table turnover {
  from enterprises
  by ACTIVITY, SIZE, CJ
  sum TURNOVER
}

sensitive by threshold(3)
sensitive by dominance(n: 1, k: 85%)

fix where value = 0

attacker external {
  bounds 0 .. inf
}

protect turnover {
  lpl needed
  upl max(needed, 10)
  against external
  cost sqrt(value)
  method csp
}
