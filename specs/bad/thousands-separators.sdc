sdc 1
# Separators in large numbers.

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
  lpl 1'000
  upl 1 000
  against external
  cost 10_000
  cost 1.000.000 where value > 1
  method csp
}
