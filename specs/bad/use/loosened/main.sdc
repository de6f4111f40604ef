sdc 1
# The house rules require more than the policy gives.
use "rules.sdc" as office
policy "Income by region"

dimension region {
  codes North, South
  total Country
}

table income {
  by region
  values
    | region | value |
    | North  |    12 |
    | South  |    30 |
}

protect income {
  lpl 2% of value
  upl 6% of value
  against office.external
  method csp
}
