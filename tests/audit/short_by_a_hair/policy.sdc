sdc 1
policy "Soak"
seed 313693

dimension area {
  hierarchy tree
    - Total
      - aA
        - aA1
        - aA2
      - aB
      - aC
      - aD
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
      - kD
}

data records {
  csv "records.csv"
  column unit = "unit"
}

table main {
  from records
  by area, kind
  sum turnover
  integer
}

sensitive by pq(p: 10%, q: 60%)

attacker external {
  bounds 0 .. inf
}

protect main {
  against external
  lpl 0.2 * value
  upl max(1, 0.05 * value)
  cost 2
  method ip {
    time_limit 4 s
    unions off
  } else perturb {
    time_limit 4 s
    range -60% .. 60%
  }
  release csv "out.csv"
  release argus "out.tab"
}
