sdc 1
#! expect method=cta deviations="a1 2.4, a2 1.6, a3 4" unique=yes
policy "Known answer: paper 004, Figure 3: L2, weights 1 / value"

dimension part {
  codes a1, a2
  total a3
}

table a {
  by part
  values
    | part | value |
    | a1   |    12 |
    | a2   |     8 |
    | a3   |    20 |
}

sensitive a at (part: a3)

attacker external {
  bounds 0 .. inf
}

protect a {
  upl 4
  against external
  cost 1 / value
  method cta {
    norm L2
    sense up
  }
}
