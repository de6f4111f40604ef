sdc 1
policy "Soak"
seed 639494

table main {
  jj "table.jj"
}


attacker given {
  bounds given
}

protect main {
  against given
  spl 0.2 * value
  method cta {
    time_limit 4 s
    norm Linf
    sense up
    range -100% .. 200%
    gap 5%
  }
  release csv "out.csv"
}
