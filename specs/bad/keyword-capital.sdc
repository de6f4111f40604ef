sdc 1
# Keywords are written small.

Dimension region {
  codes North, South
  total Country
}

table income {
  by region
  values
    | region  | value |
    | North   |    12 |
    | South   |    30 |
    | Country |    42 |
}

sensitive income at (region: North)

attacker external {
  bounds 0 .. inf
}

PROTECT income {
  lpl 2
  upl 3
  against external
  method csp
}
