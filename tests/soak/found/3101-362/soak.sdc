sdc 1
policy "Soak"
seed 371085

dimension area {
  hierarchy tree
    - Total
      - aA
      - aB
      - aC
}

dimension kind {
  codes kA, kB
  total Total
}

table main {
  by area, kind
  integer
  values
    | area | kind | value |
    | aA | kA | 4579151114 |
    | aA | kB | 34 |
    | aB | kA | 404 |
    | aB | kB | 6 |
    | aC | kA | 6554179 |
    | aC | kB | 23803304 |
}

sensitive main at (area: aB, kind: kB)
sensitive main at (area: aA, kind: kA)
sensitive main at (area: aC, kind: kA)
suppress main at (area: aC, kind: kA)

attacker external {
  bounds 0 .. inf
}

attacker counting {
  bounds 0 .. inf
  knows zeros
}

protect main {
  against external, counting
  lpl 0.4 * value
  upl max(1, 0.3 * value)
  method cta {
    time_limit 4 s
    norm Linf
    sense down
    keep_totals
    soft_totals 100
  }
  release csv "out.csv"
  release sdmx "out-sdmx.csv"
}
