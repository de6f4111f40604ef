sdc 1
policy "Soak"
seed 158152

dimension area {
  hierarchy tree
    - Total
      - aA
      - aB
        - aB1
        - aB2
        - aB3
}

dimension kind {
  hierarchy tree
    - Total
      - kA
        - kA1
        - kA2
      - kB
      - kC
        - kC1
        - kC2
}

data records {
  csv "records.csv"
  column unit = "unit"
  column weight = "weight"
}

table main {
  from records
  by area, kind
  sum turnover
  integer
}

sensitive by threshold(3)
publish main at (area: aA, kind: kC1)

attacker external {
  bounds 0 .. inf
}

attacker close {
  bounds 0.7 * value .. 1.5 * value + 3
}

protect main {
  against external, close
  lpl 0.2 * value
  upl max(1, 0.3 * value)
  cost value
  cost 10 * value where area = Total
  method cta {
    time_limit 4 s
    norm L2
    sense down
    unions off
  }
  release csv "out.csv"
  release argus "out.tab"
}
