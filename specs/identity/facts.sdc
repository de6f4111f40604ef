sdc 1
use "parts/house-rules.sdc"
use "parts/attackers.sdc" as office
policy "Every fact"
seed 2025

dimension nace {
  hierarchy hrc "nace.hrc"
  hierarchy hrc "nace-old.hrc" as old
  total Total
}

dimension size {
  codes small, medium, large
  total all
}

data enterprises {
  csv "enterprises.csv"
  column unit = "id"
  column request = "asked"
}

table turnover {
  from enterprises
  by nace, size
  sum turnover
}

sensitive by threshold(3)
sensitive by threshold(n: 3, level: 15%) because "house rule 4"
sensitive turnover by p_percent(10%, n: 2) where count >= 3
sensitive by request
sensitive by status() where value > 0
sensitive where value = 1 or value = 2
sensitive turnover where size in (small, "medium") and nace not under C
sensitive at (nace: "47", size: large)
sensitive turnover at (nace: 45, size: small), (nace: 46, size: small)
sensitive together at (nace: 45, size: large), (nace: 46, size: large) because "one owner"

sensitive from csv "cells.csv" {
  delimiter ";"
}

sensitive turnover from hst "apriori.hst"

publish where nace = Total and size = all
publish turnover at (nace: Total, size: small) because "in the press already"
suppress turnover where nace.old at level 3 and not (size = all)
fix where value = 0
fix turnover at (nace: C, size: medium) because "published last year"

waive unit "DE-0001742" until 2027-12-31 because "written consent, file 2024/1183"
waive group 17 because "state-owned"
waive turnover at (nace: "35", size: large) until 2028-06-30 because "one supplier, consent"
waive where nace under D because "price regulation, everything is public"

attacker respondent {
  each unit where contribution >= 5% of value
  coalition group
  knows own contribution
  bounds 50% of value .. 150% of value
}

require upl >= lpl because "Rule book 4.2: never less room above than below"
require lpl > 0 where nace not in (A, B) because "Rule book 4.3"
