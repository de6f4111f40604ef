sdc 1
policy "Norwegian social assistance (z1): counts of people by region and kind of help"

data people {
  csv "z1.csv"
}

dimension region {
  codes A, B, C, D, E, F, G, H
  total Total
}

dimension hovedint {
  codes annet, arbeid, soshjelp, trygd
  total Total
}

table recipients {
  from people
  by region, hovedint
  value ant
  count ant
  integer
}

sensitive by threshold(4)

attacker external {
  bounds 0 .. inf
}

protect recipients {
  lpl needed
  upl needed
  against external
  method csp
}
