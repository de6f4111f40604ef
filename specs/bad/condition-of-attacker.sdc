sdc 1
policy "Conditions"

dimension region {
  codes North, South
  total Country
}

dimension size {
  codes small, large
  total all
}

dimension fuel {
  codes coal, gas
  total any
}

data plants {
  csv "plants.csv"
  column unit = "plant"
}

table by_size {
  from plants
  by region, size
  sum output
}

table by_fuel {
  from plants
  by region, fuel
  sum output
}

sensitive by threshold(3)

attacker external {
  bounds 0 .. inf
  bounds 0 .. 10 where fuel = coal
}

protect by_size {
  lpl needed
  upl needed
  against external
  cost value where region = North and size = small
  method csp {
    time_limit 10 min
  }
  release csv "by-size.csv"
}

attacker other {
  bounds 0 .. inf
}

protect by_fuel {
  lpl needed
  upl needed
  against other
  cost value
  method csp {
    time_limit 10 min
  }
  release csv "by-fuel.csv"
}
