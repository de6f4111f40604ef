sdc 1
use "tables.sdc"
policy "Turnover, first quarter"

data enterprises {
  csv "q1.csv"
  column unit = "enterprise_id"
}

table turnover {
  from enterprises
  by nace, nuts
  sum turnover
  unit "thousand EUR"
}

protect turnover {
  lpl needed
  upl needed
  against external
  cost sqrt(value)
  method csp {
    time_limit 2 min
  }
  release csv "turnover-q1.csv"
}
