sdc 1
policy "House rules: respondents and holdings as attackers"

# Who contributes to a table knows more than its readers. These rules need microdata:
#   column unit = "…"    who contributes
#   column group = "…"   to which holding it belongs (for `holding`)

sensitive by threshold(3)
sensitive by p_percent(15%, n: 2) where count >= 3

attacker external {
  bounds 0 .. inf
}

# Every respondent of some weight, alone: it knows its own figures, and those of the others within half to one and a
# half of their size.
attacker respondent {
  each unit where contribution >= 5% of value
  knows own contribution
  bounds 50% of value .. 150% of value
}

# All members of a holding together.
attacker holding {
  each unit
  coalition group
  knows own contribution
  bounds 50% of value .. 150% of value
}

scenario inside {
  against respondent, holding
  lpl 5% of largest(1)
  upl 5% of largest(1)
}
