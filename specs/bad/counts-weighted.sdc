sdc 1
# How many respondents there are says little about a sum of weights.

data persons {
  csv "persons.csv"
  column weight = "w"
}

dimension region {
  codes North, South
  total Country
}

table people {
  from persons
  by region
  count
}

sensitive by threshold(3)

attacker neighbour {
  bounds 0 .. inf
  knows counts
}

protect people {
  upl needed
  against neighbour
  method csp
}
