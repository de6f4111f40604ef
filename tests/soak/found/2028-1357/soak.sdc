sdc 1
policy "Soak"
seed 407742

dimension area {
  hierarchy tree
    - Total
      - aA
      - aB
        - aB1
        - aB2
      - aC
}

dimension kind {
  hierarchy hrc "kind.hrc"
  total Total
}

data records {
  csv "records.csv"
  column unit = "unit"
}

table main {
  from records
  by area, kind
  sum turnover
}

sensitive by p_percent(10%)

attacker external {
  bounds 0 .. inf
}

attacker informed {
  bounds 50% of value .. 200% of value
}

attacker census {
  bounds 0 .. inf
  knows counts
}

protect main {
  against external, informed, census
  lpl 0.1 * value
  upl 0.05 * value
  cost sqrt(value)
  method perturb {
    time_limit 4 s
    range -300 .. 600
    unions off
  }
  release csv "out.csv"
  release html "out.html"
}
