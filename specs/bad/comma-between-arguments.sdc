sdc 1
# A comma without a blank between the arguments of a rule.

data enterprises {
  csv "enterprises.csv"
  column unit = "id"
  column group = "holding"
}

dimension nace {
  hierarchy hrc "nace.hrc"
  total Total
}

dimension size {
  codes small, medium, large
  total all
}

table turnover {
  from enterprises
  by nace, size
  sum turnover
}

sensitive by threshold(3)
sensitive by dominance(2,85%)

attacker external {
  bounds 0 .. inf
}

attacker respondent {
  each unit
  coalition group
  knows own contribution
  bounds 50% of value .. 150% of value
}

protect turnover {
  lpl needed
  upl needed
  against external, respondent
  cost sqrt(value)
  method csp {
    time_limit 10 min
  }
  release csv "turnover.csv"
}
