sdc 1
# The opening brace is missing, behind a header that could go on.

dimension region {
  codes North, South
  total Country
}

table income {
  by region
  values
    | region  | value |
    | North   |    12 |
    | South   |    30 |
    | Country |    42 |
}

table wages {
  by region
  values
    | region  | value |
    | North   |     6 |
    | South   |    20 |
    | Country |    26 |
}

sensitive income at (region: North)

attacker external {
  bounds 0 .. inf
}

protect income, wages
  lpl 5
  against external
  method csp
  release csv "income.csv"
}
