sdc 1
policy "Turnover by activity and region, {quarter}"

param quarter = "2026q2"
param before = "2026q1"

data enterprises {
  csv "enterprises-{quarter}.csv"
  column unit = "enterprise_id"
}

dimension nace {
  hierarchy hrc "nace.hrc"
  total "C-G"
}

dimension nuts {
  hierarchy hrc "nuts.hrc"
  total XA
}

table turnover {
  from enterprises
  by nace, nuts
  sum turnover
  unit "thousand EUR"
}

sensitive by threshold(3)
sensitive by p_percent(10%)

attacker external {
  bounds 0 .. inf
}

# What was hidden last quarter is half as dear to hide again.
protect turnover {
  lpl needed
  upl needed
  against external
  cost value
  method suppression {
    previous "published/turnover-{before}.csv"
    previous_discount 50%
    time_limit 2 min
  }
  release csv "turnover-{quarter}.csv"
}
