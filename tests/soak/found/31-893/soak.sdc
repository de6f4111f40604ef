sdc 1
policy "Soak"
seed 299990

dimension area {
  hierarchy hrc "area.hrc"
  total Total
}

dimension kind {
  codes kA, kB
  total Total
}

table main {
  by area, kind
  integer
  values
    | area | kind | value |
    | Total | Total | 6210072022 |
    | Total | kA | 6209990853 |
    | Total | kB | 81169 |
    | aA | Total | 6209176729 |
    | aA | kA | 6209095576 |
    | aA | kB | 81153 |
    | aB | Total | 895293 |
    | aB | kA | 895277 |
    | aB | kB | 16 |
}

sensitive main at (area: aB, kind: kB)
sensitive main at (area: aB, kind: kA)

attacker external {
  bounds 0 .. inf
}

protect main {
  against external
  lpl 0.1 * value
  upl max(1, 1.0 * value)
  cost sqrt(value)
  method perturb {
    time_limit 4 s
    range -40% .. 40%
  }
  release csv "out.csv"
}
