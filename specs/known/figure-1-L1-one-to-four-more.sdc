sdc 1
#! expect method=cta objective=68 unique=no
policy "Known answer: paper 004, Figure 1 (d): L1, levels larger by 1, 2, 3, 4"

dimension row {
  codes r1, r2, r3
  total sum
}

dimension column {
  codes c1, c2, c3, c4
  total sum
}

# Figure 1 (a) of the comparison of minimum-distance methods (paper 004).
table a {
  by row, column
  values
    | row \ column | c1 | c2 | c3 | c4 | sum |
    | r1           | 10 | 15 | 11 |  9 |  45 |
    | r2           |  8 | 10 | 12 | 15 |  45 |
    | r3           | 10 | 12 | 11 | 13 |  46 |
    | sum          | 28 | 37 | 34 | 37 | 136 |
}

sensitive a at (row: r1, column: c1)
sensitive a at (row: r2, column: c3)
sensitive a at (row: r3, column: c3)
sensitive a at (row: r3, column: c4)

# The margins stay as they are.
fix a where row = sum or column = sum

attacker external {
  bounds 0 .. inf
}

protect a {
  upl 4 where row = r1 and column = c1
  upl 6 where row = r2 and column = c3
  upl 5 where row = r3 and column = c3
  upl 9 where row = r3 and column = c4
  against external
  cost 1
  method cta {
    norm L1
    sense up
  }
}
