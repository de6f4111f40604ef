sdc 1
policy "Soak"
seed 457533

dimension area {
  hierarchy tree
    - Total
      - aA
      - aB
        - aB1
        - aB2
}

dimension kind {
  hierarchy hrc "kind.hrc"
  total Total
}

table main {
  by area, kind
  values
    | area | kind | value |
    | aA | kA1 | 0 |
    | aA | kA2 | 1 |
    | aA | kB | 40 |
    | aA | kC | 0 |
    | aB1 | kA1 | 0 |
    | aB1 | kA2 | 12 |
    | aB1 | kB | 0 |
    | aB1 | kC | 12 |
    | aB2 | kA1 | 3 |
    | aB2 | kA2 | 0 |
    | aB2 | kB | 40 |
    | aB2 | kC | 0 |
}

sensitive main at (area: aB2, kind: kA1)
sensitive main at (area: aA, kind: kA2)
publish main at (area: aA, kind: kA1)

attacker external {
  bounds 0 .. inf
}

protect main {
  against external
  lpl 0.4 * value
  upl max(1, 0.05 * value)
  cost sqrt(value)
  method ip {
    time_limit 4 s
  }
  release csv "out.csv"
}
