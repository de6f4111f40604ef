sdc 1
use "parts/attackers.sdc" as office
policy "Everything a protect block takes"
seed 7

table energy {
  jj "energy.jj"
}

table trade {
  jj "trade.jj"
}

attacker external {
  bounds 0 .. inf
  bounds given where value > 1000
}

attacker respondent {
  bounds max(0, value - 3 * sqrt(value)) .. value + 3 * sqrt(value)
  bounds -inf .. inf where value < 0
  knows zeros
}

attacker census {
  bounds 0 .. inf
  knows zeros
  knows counts
}

scenario careless {
  against external
  lpl 5% of value
  spl 10% of value where value > 100
}

override attacker office.informed {
  bounds 60% of value .. 180% of value where value > 9
}

protect energy, trade {
  lpl needed
  upl max(needed, 15% of value)
  upl if value < 100 then 20 otherwise 12% of value
  upl 2 * needed where value > 100 and value <= 1e6 or weight != 0
  spl 0
  lpl 5% of value against respondent
  lpl 6% of value against respondent where not (value = 0)
  against external, respondent
  scenarios careless, office.competitor
  cost sqrt(value)
  cost up 1 / value where value > 0
  cost down (value + 1) ^ 0.5
  cost fixed -(-2.5)
  method csp {
    gap 0.5%
    time_limit 90 s
    threads 2
    backend highs
    cap_hidden 40
    previous "last-year.csv"
    previous_discount 50%
  } else ip {
    min_width 5% of value
    cap_width 25% of value where value > 100
    avoid_centre
  } else rounding {
    base 5
  } else cta
  release csv "energy.csv" {
    delimiter ";"
    decimal ","
  }
  release html "energy.html"
}

protect energy as adjusted {
  upl needed
  method cta {
    norm L1L2
    omega1 0.99
    omega2 0.01
    squared where value > 0
    sense up where value > 10
    sense keyed
    range -30% .. 30%
    range 0 .. value where value < 10
    keep_totals
    soft_totals 1000
    time_limit 1.5 h
  } else ecta {
    alpha 30%
    tries 100
  }
  assess B1, B2, B3, C {
    replications 10
    delta 20%
    norm L2
  }
  release sdmx "energy-adjusted.csv"
}

protect trade as mixed {
  method combined {
    exact where value = 0
    interval where value > 1000
    perturb 2% of value where value <= 1000 and value > 100
    round 5 where value <= 100 and value != 0
    cap_intervals 40
    cap_width 25% of value
    time_limit 500 ms
  } else perturb {
    range -5% .. 5%
    end high where value > 100
  }
  release parquet "trade.parquet"
}

override protect adjusted {
  upl 2 * needed
}

protect trade as blurred {
  lpl needed
  conditional lpl 2% of value
  conditional spl max(1, 5% of value) against external where value > 100
  against external
  method intervals {
    cap_intervals 9
  } else suppression
}
