sdc 1  # the edition
# directly below the edition

# ---- a heading of its own ----------------------------------------------------

policy "Comments, wherever they may stand"  # behind a statement

# The documentation of a dimension,
# in two lines.
dimension region {
  # first thing in a block
  codes North, South  # behind codes
  total Country       # aligned with its neighbour

  # before the end of a block
}

# A lonely comment.

# Another one, and directly below it a declaration.
table income {  # behind a brace
  by region
  values
    # above the header
    | region | value |
    | North  |    12 |
    # between rows
    | South  |    30 |
  unit "million EUR"  # a # inside quotes is none: see below
  measure income
}

sensitive income at (  # inside parentheses
    region: North)

publish income where region in (  # a list
    North,                        # with a remark
    South) because "the # in a text is part of it"

attacker external {
  # only a comment above
  bounds 0 .. inf
}

protect income {
  lpl 3
  upl 4
  against external
  method csp {  # the first choice
    # nothing but time
    time_limit 10 min
  } else ip  # the second
}

# the last line
