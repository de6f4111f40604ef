sdc 1
# An attacker who knows how many contribute, and tables that do not.

data cells {
  csv "cells.csv"
}

dimension region {
  codes North, South
  total Country
}

table ready {
  from cells
  by region
  value turnover
}

table income {
  by region
  values
    | region  | value |
    | North   |    12 |
    | South   |    30 |
    | Country |    42 |
}

sensitive where value < 20

attacker neighbour {
  bounds 0 .. inf
  knows counts
}

protect ready, income {
  upl 5
  against neighbour
  method csp
}
