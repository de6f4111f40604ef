sdc 1

attacker external {
  bounds 0 .. inf
}
