sdc 1
# A word that steers expressions cannot be a name.

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

attacker under {
  bounds 0 .. inf
}

protect income {
  lpl 2
  upl 3
  against under
  method csp
}
