sdc 1
policy "Energy"

dimension region {
  hierarchy Country = North + South
  hierarchy North = N1 + N2
  hierarchy South = S1 + S2
}

dimension fuel {
  codes coal, gas, wind
  total all
}

data plants {
  csv "plants.csv"
}

table energy {
  from plants
  by region to level 0, fuel
  sum output
}
