sdc 1
# A column too many.

dimension region {
  codes North, South
  total Country
}

table income {
  by region
  values
    | region  | value | n |
    | North   |    12 | 3 |
    | South   |    30 | 4 |
}

sensitive income at (region: North)

attacker external {
  bounds 0 .. inf
}

protect income {
  lpl 2
  upl 3
  against external
  method csp
}
