sdc 1
policy "Labels"

dimension region {
  codes North, South
  total Country
  labels en csv "r.csv" {
    column "name"
  }
}

data plants {
  csv "plants.csv"
  column unit = "plant"
}

table energy {
  from plants
  by region
  sum output
}

sensitive by threshold(3)

attacker external {
  bounds 0 .. inf
}

protect energy {
  lpl needed
  upl needed
  against external
  method csp
  release csv "energy.csv"
}
