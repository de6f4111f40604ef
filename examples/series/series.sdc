sdc 1
use "tables.sdc"
policy "Turnover, second quarter"

data enterprises {
  csv "q2.csv"
  column unit = "enterprise_id"
}

table turnover {
  from enterprises
  by nace, nuts
  sum turnover
  unit "thousand EUR"
}

# What was hidden last quarter is half as dear to hide again.
protect turnover as steady {
  lpl needed
  upl needed
  against external
  cost sqrt(value)
  method csp {
    previous "turnover-q1.csv"
    previous_discount 50%
    time_limit 2 min
  }
  release csv "turnover-q2.csv"
}

# For comparison: last quarter makes no difference, and is only counted against.
protect turnover as afresh {
  lpl needed
  upl needed
  against external
  cost sqrt(value)
  method csp {
    previous "turnover-q1.csv"
    previous_discount 0%
    time_limit 2 min
  }
  release csv "turnover-q2-afresh.csv"
}
