sdc 1
policy "Turnover by region, {year}"

# The year of the survey.
param year = 2025
param share = 10%
param least = 3
param offset = -2.5
param limit = 5 min
param folder = "survey"
param focus = "North"

data enterprises {
  csv "{folder}/turnover-{year}.csv"
  column unit = "enterprise_{{id}}"
}

dimension region {
  codes North, South
  total Country
}

table turnover {
  from enterprises
  by region
  sum turnover
  only where year = "{year}"
}

sensitive by threshold(least)
sensitive by p_percent(share)
publish at (region: "{focus}") because "announced for {year}"

attacker external {
  bounds min(0, offset) .. inf
}

protect turnover {
  lpl share of value
  upl 2 * (share of value)
  against external
  method csp {
    time_limit limit
  }
  release csv "turnover-{year}.csv"
}
