sdc 1

attacker external {
  bounds 0 .. inf
}

require lpl >= 5% of value because "House rule 7: at least 5 % below"
