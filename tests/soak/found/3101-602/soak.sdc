sdc 1
policy "Soak"
seed 448451

dimension area {
  hierarchy hrc "area.hrc"
  total Total
}

dimension kind {
  hierarchy hrc "kind.hrc"
  total Total
}

table main {
  by area, kind
  values
    | area | kind | value |
    | Total | Total | 1411047 |
    | Total | kA | 443461 |
    | Total | kA1 | 1908 |
    | Total | kA2 | 48357 |
    | Total | kA3 | 393196 |
    | Total | kB | 967570 |
    | Total | kB1 | 772588 |
    | Total | kB2 | 14310 |
    | Total | kB3 | 180672 |
    | Total | kC | 16 |
    | aA | Total | 243009 |
    | aA | kA | 48355 |
    | aA | kA1 | 5 |
    | aA | kA2 | 48347 |
    | aA | kA3 | 3 |
    | aA | kB | 194642 |
    | aA | kB1 | 7 |
    | aA | kB2 | 14220 |
    | aA | kB3 | 180415 |
    | aA | kC | 12 |
    | aB | Total | 1168038 |
    | aB | kA | 395106 |
    | aB | kA1 | 1903 |
    | aB | kA2 | 10 |
    | aB | kA3 | 393193 |
    | aB | kB | 772928 |
    | aB | kB1 | 772581 |
    | aB | kB2 | 90 |
    | aB | kB3 | 257 |
    | aB | kC | 4 |
}

sensitive main at (area: aB, kind: kA3)
sensitive main at (area: aA, kind: kB2)
sensitive main at (area: aB, kind: kB1)

attacker external {
  bounds 0 .. inf
}

attacker informed {
  bounds 50% of value .. 200% of value
}

protect main {
  against external, informed
  lpl 0.4 * value
  upl max(1, 0.3 * value)
  upl 0.05 * value against informed
  cost up 1 + value
  cost down 2
  cost fixed 3
  method cta {
    time_limit 4 s
    norm L2
    sense free
    integer
    unions off
  }
  release csv "out.csv"
}
