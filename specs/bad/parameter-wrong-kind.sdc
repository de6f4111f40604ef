sdc 1
policy "Turnover"

param share = 10
param least = 3%

dimension region {
  codes A, B
  total T
}

table t {
  by region
  values
    | region | value |
    | A      |     4 |
    | B      |     6 |
}

sensitive by threshold(least)

attacker external {
  bounds 0 .. inf
}

protect t {
  lpl share of value
  against external
  method csp
}
