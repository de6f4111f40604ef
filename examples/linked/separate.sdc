sdc 1
use "tables.sdc"
policy "Turnover by activity and by product, each protected as if the other did not exist"

protect by_activity {
  lpl needed
  upl needed
  against external
  cost sqrt(value)
  method csp {
    time_limit 2 min
  }
  release csv "alone-by_activity.csv"
}

protect by_product {
  lpl needed
  upl needed
  against external
  cost sqrt(value)
  method csp {
    time_limit 2 min
  }
  release csv "alone-by_product.csv"
}
