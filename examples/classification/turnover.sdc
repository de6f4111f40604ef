sdc 1
policy "Turnover by division, from data by class"

data enterprises {
  csv "enterprises.csv"
  column unit = "id"
}

# The data have classes of four digits; sections and divisions have labels in two languages.
dimension activity {
  hierarchy columns "activity.csv"
  total "B-I"
  labels csv "labels.csv"
}

dimension region {
  codes N, S, W
  total All
}

# The total is level 1, sections 2, divisions 3. Classes are not published.
table turnover {
  from enterprises
  by activity to level 3, region
  sum turnover
}

sensitive by threshold(3)
sensitive by p_percent(10%)

attacker external {
  bounds 0 .. inf
}

protect turnover {
  lpl needed
  upl needed
  against external
  cost value
  method suppression {
    time_limit 2 min
  }
  release csv "turnover.csv" {
    labels en, de
  }
}
