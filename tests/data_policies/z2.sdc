sdc 1
policy "Norwegian social assistance (z2): counts of people, regions in two trees"

# One row a group of people; `ant` is how many they are.
data people {
  csv "z2.csv"
}

dimension region {
  hierarchy columns "z2.csv" {
    levels fylke, region
  }
  hierarchy columns "z2.csv" {
    levels kostragr, region
  } as kind
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
