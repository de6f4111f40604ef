sdc 1
policy "Whose attribute?"

dimension area {
  codes North, South
  total All
}

dimension illness {
  codes flu, measles
  total Any
}

data people {
  csv "people.csv"
}

table patients {
  from people
  by area
  count
  attribute illness
}

table nobody {
  from people
  by area, illness
  count
  attribute area, illness
}

table amounts {
  from people
  by area, illness
  sum cost
  attribute illness
}

table unsaid {
  from people
  by area, illness
  count
}

sensitive unsaid by group_disclosure
