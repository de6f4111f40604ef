sdc 1
policy "Turnover by activity and region"

# One row a respondent. `--data enterprises=FILE` puts another file in place of this one.
data enterprises {
  csv "enterprises.csv"
  column unit = "enterprise_id"  # who contributes
  column group = "holding_id"    # enterprises of one holding count as one
}

dimension nace {
  hierarchy hrc "nace.hrc"
  total Total
}

dimension region {
  hierarchy hrc "region.hrc"
  total Country
}

table turnover {
  from enterprises
  by nace, region
  sum turnover
  unit "thousand EUR"
}

# Cells with fewer than three contributors, and cells where one contributor could estimate another within 10 %.
sensitive by threshold(3)
sensitive by p_percent(10%) where count >= 3

attacker external {
  bounds 0 .. inf
}

# Every respondent knows its own part of a cell, and that no part is negative. One who knows more about the others,
# `bounds 50% of value .. 150% of value`, may know too much for these levels: set lower ones against them.
attacker respondent {
  each unit
  coalition group
  knows own contribution
  bounds 0 .. inf
}

protect turnover {
  lpl needed  # the level of the rule that marked the cell
  upl needed
  against external, respondent
  cost sqrt(value)
  method csp {
    gap 1%
    time_limit 10 min
  }
  release csv "turnover-protected.csv"
}
