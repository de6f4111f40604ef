sdc 1
# threshold needs the number of contributors.

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
