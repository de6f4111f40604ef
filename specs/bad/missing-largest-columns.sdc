sdc 1
# p_percent needs the two largest contributions.

data cells {
  csv "cells.csv"
}

dimension size {
  codes small, medium, large
  total all
}

table turnover {
  from cells
  by size
  value TOT
  count N_OBS
  largest(1) MAX
}

sensitive by p_percent(10%)

attacker external {
  bounds 0 .. inf
}

protect turnover {
  lpl needed
  upl needed
  against external
  method csp {
    time_limit 10 min
  }
}
