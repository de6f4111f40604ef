sdc 1
use "tables.sdc"
policy "Turnover by activity and by product, protected together"

protect by_activity, by_product as together {
  lpl needed
  upl needed
  against external
  cost sqrt(value)
  method csp {
    time_limit 2 min
  }
  release csv "together.csv"
}
