sdc 1
# A number instead of a percentage.

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
}

protect income {
  lpl 0.1 of value
  upl 3
  against external
  method csp
}
