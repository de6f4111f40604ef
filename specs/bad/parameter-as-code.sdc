sdc 1
policy "Turnover"

param focus = "A"
param year = 2025

data e {
  csv "e.csv"
}

dimension region {
  codes A, B
  total T
}

table t {
  from e
  by region
  sum turnover
  only where year = year
}

suppress where region = focus

publish where region = "{focus}"
