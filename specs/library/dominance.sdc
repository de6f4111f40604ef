sdc 1
policy "House rules: dominance, as agreed for European business statistics"

# Four contributors at least; one contributor with more than 80 %, or two with more than 90 % of a cell, dominate it.
# The parameters are an example: offices keep theirs confidential and put them into a copy of this file.
sensitive by threshold(4)
sensitive by dominance(n: 1, k: 80%)
sensitive by dominance(n: 2, k: 90%)

# A cell where everybody reports zero tells what each of them reported.
sensitive by zero

attacker external {
  bounds 0 .. inf
}

# A dominated cell must stay open on both sides.
require lpl > 0 where value > 0 because "Agreement on confidential cells, point 3"
require upl > 0 where value > 0 because "Agreement on confidential cells, point 3"
