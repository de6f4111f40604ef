sdc 1
# A table takes data through a data block.

data cells {
  csv "cells.csv"
}

dimension size {
  codes small, medium, large
  total all
}

table turnover {
  csv "cells.csv"
  by size
  value TOT
  count N_OBS
  largest(1) MAX
}

sensitive by threshold(3)

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
