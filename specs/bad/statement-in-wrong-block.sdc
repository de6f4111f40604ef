sdc 1
# Levels belong to protect, bounds to an attacker.

dimension region {
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
  lpl 2
}

protect income {
  bounds 0 .. inf
  lpl 2
  upl 3
  against external
  method csp
}
