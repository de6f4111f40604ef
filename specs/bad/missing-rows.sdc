sdc 1
# values without rows.

dimension region {
  codes North, South
  total Country
}

table income {
  by region
  values
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
