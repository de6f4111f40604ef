sdc 1
policy "House rules: attackers who know the market"

# Three attackers in rising order of knowledge, each with the room he must be left. A policy picks what fits its
# subject: scenarios market.careless, market.competitor

attacker external {
  bounds 0 .. inf
}

# Knows every figure within a factor of two, small ones less well.
attacker informed {
  bounds 50% of value .. 200% of value
  bounds 0 .. 3 * value where value < 100
}

# Reads the trade press: within ten per cent of the truth.
attacker insider {
  bounds 90% of value .. 110% of value
}

scenario careless {
  against external
  lpl 10% of value
  upl 15% of value
}

scenario competitor {
  against informed
  lpl 8% of value
  upl 12% of value
}

scenario trade_press {
  against insider
  lpl 2% of value
  upl 3% of value
}
