sdc 1
policy "Soak"
seed 857334

table main {
  jj "table.jj"
}


attacker external {
  bounds 0 .. inf
}

protect main {
  against external
  lpl 0.2 * value
  upl max(1, 0.15 * value)
  method perturb {
    time_limit 4 s
    range -5000 .. 5000
  } else cta {
    time_limit 4 s
    norm L1L2
    sense down
    omega1 0.5
    squared where value > 20
  }
  release csv "out.csv"
  release sdmx "out-sdmx.csv"
}
