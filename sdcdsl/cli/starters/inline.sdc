sdc 1
policy "My first policy: one sensitive cell"

# A dimension lists the codes of one side of the table, and what their total is called.
dimension activity {
  codes Mining, Trade, Services
  total All
}

dimension region {
  codes North, East, South
  total Country
}

# The table itself. Small ones can be typed in; totals are checked, and computed where they are left out.
table investment {
  by activity, region
  values
    | activity \ region | North | East | South | Country |
    | Mining            |    20 |   50 |    10 |      80 |
    | Trade             |     8 |   19 |    22 |      49 |
    | Services          |    17 |   32 |    12 |      61 |
    | All               |    45 |  101 |    44 |     190 |
  unit "million EUR"
}

# What must not be disclosed.
sensitive investment at (activity: Trade, region: South)

# Who might try: somebody who knows that no investment is negative, and nothing else.
attacker external {
  bounds 0 .. inf
}

# How uncertain the cell must stay (10 below, 12 above), and how to get there: by hiding cells that cost little.
protect investment {
  lpl 10
  upl 12
  against external
  cost value
  method csp
  release csv "investment.csv"
}
