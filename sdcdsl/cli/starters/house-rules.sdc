sdc 1
policy "House rules of our office"

# Other policies take these rules over with: use "house-rules.sdc" as office
# What they add to it can tighten the rules; what loosens them is named in `sdcdsl diff` and in the report.

sensitive by threshold(3)
sensitive by p_percent(10%)

attacker external {
  bounds 0 .. inf
}

attacker informed {
  bounds 50% of value .. 200% of value
}

scenario careless {
  against external
}

scenario competitor {
  against informed
  upl 20% of value
}

require lpl >= 5% of value because "House rule 7: at least 5 % below"
require upl >= 5% of value because "House rule 7: at least 5 % above"
