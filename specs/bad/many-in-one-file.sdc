sdc 1
# Ten mistakes: all of them are reported at once.

data enterprises {
  cvs "enterprises.csv"
  column unit = "id"
  column group = "holding"
}

dimension nace {
  hierachy hrc "nace.hrc"
  total Total
}

dimension size {
  codes small; medium
  total all
}

table turnover {
  from enterprises
  by nace, siez
  sum turnover
}

sensitive by treshold(3)
sensitive by p_percent(10 %)

attacker external {
  bounds 0 . inf
}

attacker respondent {
  each unit
  coalition group
  knows own contribution
  bounds 50% of value .. 150% of value
}

protect turnover {
  lpl needed wher size = small
  upl needed
  against externel, respondent
  cost sqrt(value)
  method csp {
    time_limit 10 mins
  }
  release csv "turnover.csv"
}
