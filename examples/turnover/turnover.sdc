sdc 1
policy "Structural business statistics: turnover, reference year 2025"

# ---- the tables --------------------------------------------------------------

data enterprises {
  csv "enterprises.csv"          # default binding; --data enterprises=FILE wins
  column unit = "enterprise_id"  # who contributes
  column group = "holding_id"    # enterprises of one holding count as one
  column weight = "design_weight" scales contributions
}

dimension nace {
  hierarchy hrc "nace.hrc"
  total "B-N"
}

dimension nuts {
  hierarchy hrc "nuts.hrc"
  total XA
}

dimension size {
  codes "0-9", "10-49", "50-249", "250+"
  total all
}

table turnover_by_region {
  from enterprises
  by nace, nuts
  sum turnover
  unit "thousand EUR"
}

table turnover_by_size {
  from enterprises
  by nace, size
  sum turnover
  unit "thousand EUR"
}

# ---- what is sensitive ---------------------------------------------------------

sensitive by threshold(3)
sensitive by p_percent(10%) where count >= 3
sensitive turnover_by_size by dominance(n: 2, k: 85%) where nace at level 3

waive unit "XA-0000742" until 2027-12-31 because "written consent, file 2024/1183"

publish where nace = "B-N" and nuts at level 1
fix where value = 0

# ---- who attacks ---------------------------------------------------------------

attacker external {
  bounds 0 .. inf
}

attacker respondent {
  each unit where contribution >= 5% of value
  coalition group
  knows own contribution
  bounds 50% of value .. 150% of value
}

# ---- protect ---------------------------------------------------------------------

protect turnover_by_region, turnover_by_size {
  lpl needed  # what the rule that marked the cell calls for
  upl max(needed, 5% of largest(1))
  upl max(needed, 15% of largest(1)) where nace under C
  spl 0
  lpl 4% of largest(1) against respondent
  against external, respondent
  cost sqrt(value)
  cost 10 * sqrt(value) where nuts at level 1
  method csp {
    gap 1%
    time_limit 10 min
  } else ip {
    gap 1%
    time_limit 10 min
  } else cta {
    norm L1
  }
  release csv "turnover-2025.csv"
}

require upl >= lpl because "Rule book 4.2: never less room above than below"
