sdc 1
policy "The three-way table of Cox, Kelly and Patil"

# The files lie in a wide layout; the test writes them in the long form that is read here: cells.csv with a value, a
# status and the level that the authors ask for. Levels are the same below and above.
data cells {
  csv "cells.csv"
  column level = "LEVEL"
}

dimension plane {
  codes p1, p2, p3
  total total
}

dimension row {
  codes r1, r2, r3, r4, r5
  total total
}

dimension column {
  codes c1, c2, c3, c4, c5, c6, c7, c8, c9
  total total
}

table cox {
  from cells
  by plane, row, column
  value VALUE
  status STATUS
  integer
}

sensitive by status

# Empty places of the table are known to be empty.
fix where value = 0

attacker external {
  bounds 0 .. inf
}

protect cox {
  lpl level
  upl level
  against external
  cost value
  method csp
}
