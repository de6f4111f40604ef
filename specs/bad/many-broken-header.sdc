sdc 1
# A header that cannot be read; its block is read all the same.

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

protect income as {
  lpl 2
  upl 10%
  against external
  method csp
}
