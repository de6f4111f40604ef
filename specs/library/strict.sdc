sdc 1
use "informed-competitor.sdc" as market
policy "House rules: the strict set"

# For small populations and single large enterprises, where everybody knows everybody.
sensitive by threshold(5)
sensitive by p_percent(20%, n: 2)
sensitive by dominance(n: 1, k: 60%)
sensitive by request

# A competitor here knows the larger figures better than elsewhere.
override attacker market.informed {
  bounds 70% of value .. 140% of value where value >= 100
}

require lpl >= 10% of value because "Strict set 1: at least 10 % below"
require upl >= 15% of value because "Strict set 2: at least 15 % above"
require upl != lpl because "Strict set 3: no interval centred on the truth"
