sdc 1
policy "How much noise, and by which keys?"

dimension area {
  codes North, South
  total All
}

data people {
  csv "people.csv"
}

table patients {
  from people
  by area
  count
}

attacker external {
  bounds 0 .. inf
}

protect patients {
  lpl needed
  upl needed
  against external
  method cellkey {
    deviation 5
  } else cellkey {
    ptable "ptable.csv"
    variance 3
    secret_file "secret.txt"
    secret_variable "SECRET"
  }
}
