sdc 1
# The same letter written in two ways is the same letter; another one is not.

dimension region {
  codes Köln, South
  total Country
}

table income {
  by region
  values
    | region  | value |
    | Köln    |    12 |
    | South   |    30 |
    | Country |    42 |
}

sensitive income at (region: Kölm)

attacker external {
  bounds 0 .. inf
}

protect income {
  lpl 2
  upl 3
  against external
  method csp
}
