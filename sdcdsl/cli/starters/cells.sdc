sdc 1
policy "Turnover by activity and size class, tabulated elsewhere"

# One row a cell, with the number of contributors and the largest contributions.
data cells {
  csv "cells.csv"
}

dimension activity {
  hierarchy columns "activity.csv"  # a correspondence table: one column per level
  total Total
}

dimension size {
  codes small, medium, large
  total Total
}

# The columns of the file that hold the dimensions have the dimensions' names.
table turnover {
  from cells
  by activity, size
  value TOT
  count N_OBS
  largest(1) MAX
}

sensitive by threshold(3)
sensitive by dominance(n: 1, k: 85%)

attacker external {
  bounds 0 .. inf
}

protect turnover {
  lpl needed
  upl needed
  against external
  cost value
  method csp {
    time_limit 10 min
  }
  release csv "turnover-protected.csv"
}
