sdc 1
policy "Soak"
seed 667609

dimension area {
  hierarchy hrc "area.hrc"
  total Total
}

dimension kind {
  hierarchy tree
    - Total
      - kA
        - kA1
        - kA2
        - kA3
      - kB
}

table main {
  by area, kind
  values
    | area | kind | value |
    | aA | kA1 | 22179903 |
    | aA | kA2 | 1 |
    | aA | kA3 | 1594 |
    | aA | kB | 2 |
    | aB | kA1 | 108 |
    | aB | kA2 | 68867296 |
    | aB | kA3 | 206 |
    | aB | kB | 6 |
    | aC | kA1 | 5 |
    | aC | kA2 | 6 |
    | aC | kA3 | 4535887805 |
    | aC | kB | 21609308 |
    | aD | kA1 | 34914 |
    | aD | kA2 | 41887 |
    | aD | kA3 | 615 |
    | aD | kB | 233375 |
}

sensitive main at (area: aA, kind: kB)
sensitive main at (area: aD, kind: kA3)
publish main at (area: aA, kind: Total)
suppress main at (area: aA, kind: kA1)

attacker external {
  bounds 0 .. inf
}

attacker counting {
  bounds 0 .. inf
  knows zeros
}

attacker informed {
  bounds 50% of value .. 200% of value
}

protect main {
  against external, counting, informed
  lpl 0.1 * value
  upl max(1, 0.15 * value)
  spl 0.4 * value
  cost sqrt(value)
  method ip {
    time_limit 4 s
    cap_width 5 + 2 * value
  } else perturb {
    time_limit 4 s
    range -40% .. 40%
  }
  release csv "out.csv"
}
