sdc 1
policy "Published more coarsely than collected"

data plants {
  csv "plants.csv"
}

dimension region {
  hierarchy Country = North + South
  hierarchy North = N1 + N2
  hierarchy South = S1 + S2
}

dimension fuel {
  codes coal, gas, wind, "sun & water"
  total all
}

dimension age {
  codes 1, 2, 3, 4
  total all
}

table energy {
  from plants
  by region to level 2, fuel, age
  # Few plants burn anything.
  recode fuel {
    fossil = coal, gas
    "wind, sun" = wind, "sun & water"
  }
  recode age grc "age.grc"
  sum output
}

suppress where fuel = fossil

attacker external {
  bounds 0 .. inf
}

protect energy {
  upl 10% of value
  against external
  method csp
}
