sdc 1

attacker external {
  bounds 0 .. 10%
}

sensitive by treshold(3)
