sdc 1
# A code that is part of itself.

dimension region {
  hierarchy Country = North + South + Country
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
  lpl 2
  upl 3
  against external
  method csp
}
