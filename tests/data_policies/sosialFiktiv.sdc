sdc 1
policy "Norwegian social assistance (sosialFiktiv): counts of people, regions in two trees"

# One row a group of people; `ant` is how many they are.
data people {
  csv "sosialFiktiv.csv"
}

dimension region {
  hierarchy columns "sosialFiktiv.csv" {
    levels fylke, region
  }
  hierarchy columns "sosialFiktiv.csv" {
    levels kostragr, region
  } as kind
  total Total
}

dimension hovedint {
  codes annet, arbeid, soshjelp, trygd
  total Total
}

dimension mnd {
  hierarchy columns "sosialFiktiv.csv" {
    levels mnd2, mnd
  }
  total Total
}

table recipients {
  from people
  by region, hovedint, mnd
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
