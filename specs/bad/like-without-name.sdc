sdc 1
policy "Alike, {quarter}"
period quarter "2025Q3" previous "2025Q2" {
  discount 30%
}

data enterprises {
  csv "enterprises-{quarter}.csv"
  column unit = "enterprise_id"
  column weight = "w" counts units
}

dimension region {
  codes North, South
  total Country
}

table by_region {
  from enterprises
  by region
  sum turnover
}

table employees {
  from enterprises
  by region
  sum employees
}

sensitive by threshold(3)

attacker external {
  bounds 0 .. inf
}

# What is common.
protect by_region {
  lpl needed
  upl needed
  against external
  cost value
  method csp {
    time_limit 10 min
  }
  release csv "by-region-{quarter}.csv"
}

protect employees like {
  release csv "employees.csv"
}
