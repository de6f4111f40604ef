sdc 1
policy "House rules: at least three contributors, and nobody estimates another within 10 %"

# The usual pair for magnitude tables such as turnover or investment.
# Take it over with: use "threshold-and-p.sdc" as house

# With two contributors each would know the other's figure.
sensitive by threshold(3)

# The second largest contributor must not be able to estimate the largest one within 10 %.
sensitive by p_percent(10%) where count >= 3

# A reader who knows that no figure is negative, and nothing else.
attacker external {
  bounds 0 .. inf
}

require upl >= lpl because "House rule 1: never less room above than below"
