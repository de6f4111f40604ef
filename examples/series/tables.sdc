sdc 1
policy "Quarterly turnover: what stays the same from quarter to quarter"

dimension nace {
  hierarchy hrc "nace.hrc"
  total "C-I"
}

dimension nuts {
  hierarchy hrc "nuts.hrc"
  total XA
}

sensitive by threshold(3)
sensitive by p_percent(10%)

fix where value = 0

attacker external {
  bounds 0 .. inf
}
