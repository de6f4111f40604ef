sdc 1
#! expect method=rounding objective=18 steps=1 audit="nothing to check"
policy "Known answer: a table of counts that no multiples of 2 next to its values add up to"

dimension a {
  codes a1, a2
  total Total
}

dimension b {
  codes b1, b2
  total Total
}

dimension c {
  codes c1, c2
  total Total
}

# Three of four alternating corners are 1: every line with two of them is even, and would have to stay as it is.
table counts {
  by a, b, c
  values
    | a     | b     | c     | value |
    | a1    | b1    | c1    |     0 |
    | a1    | b1    | c2    |     1 |
    | a1    | b1    | Total |     1 |
    | a1    | b2    | c1    |     1 |
    | a1    | b2    | c2    |     0 |
    | a1    | b2    | Total |     1 |
    | a1    | Total | c1    |     1 |
    | a1    | Total | c2    |     1 |
    | a1    | Total | Total |     2 |
    | a2    | b1    | c1    |     1 |
    | a2    | b1    | c2    |     0 |
    | a2    | b1    | Total |     1 |
    | a2    | b2    | c1    |     0 |
    | a2    | b2    | c2    |     0 |
    | a2    | b2    | Total |     0 |
    | a2    | Total | c1    |     1 |
    | a2    | Total | c2    |     0 |
    | a2    | Total | Total |     1 |
    | Total | b1    | c1    |     1 |
    | Total | b1    | c2    |     1 |
    | Total | b1    | Total |     2 |
    | Total | b2    | c1    |     1 |
    | Total | b2    | c2    |     0 |
    | Total | b2    | Total |     1 |
    | Total | Total | c1    |     2 |
    | Total | Total | c2    |     1 |
    | Total | Total | Total |     3 |
}

attacker external {
  bounds 0 .. inf
}

protect counts {
  lpl 0
  upl 0
  against external
  cost 1
  method rounding {
    base 2
  }
}
