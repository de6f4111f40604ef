sdc 1
policy "Structural business statistics: turnover, reference year 2025"

# ---- the tables --------------------------------------------------------------

data enterprises {
  csv "enterprises.csv"
  column unit = "enterprise_id"                         # who contributes
  column group = "holding_id"                           # enterprises of one holding count as one
  column weight = "design_weight" scales contributions  # how many enterprises a record stands for
}

dimension nace {
  hierarchy hrc "nace.hrc"
  total "C-N"
}

dimension nuts {
  hierarchy hrc "nuts.hrc"
  total XA
}

dimension size {
  codes "0-9", "10-49", "50-249", "250+"
  total all
}

table by_region {
  from enterprises
  by nace, nuts
  sum turnover
  unit "thousand EUR"
}

table by_size {
  from enterprises
  by nace, size
  sum turnover
  unit "thousand EUR"
}

# ---- what is sensitive ---------------------------------------------------------

sensitive by threshold(3)    # fewer than three contributors
sensitive by p_percent(10%)  # one contributor could estimate another within 10 %

publish where nace = "C-N" and nuts at level 1 because "the headline figure"
fix where value = 0 because "it is known who is not there"

# ---- who attacks ---------------------------------------------------------------

attacker external {
  bounds 0 .. inf
}

attacker competitor {
  bounds 50% of value .. 200% of value  # knows the market: every figure within a factor of two
}

# ---- protect ---------------------------------------------------------------------

protect by_region, by_size as turnover {
  lpl needed  # the level of the rule that marked the cell
  upl needed
  against external, competitor
  cost sqrt(value)  # better to hide small figures than large ones, and few than many
  method csp {
    time_limit 5 min
  }
  release csv "turnover-2025.csv"
}
