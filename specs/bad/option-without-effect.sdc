sdc 1
# Options that all methods take, where they mean nothing.
seed 2025

table energy {
  jj "energy.jj"
}

protect energy {
  upl needed
  method csp {
    threads 2
  } else ip {
    threads 2
    unions off
  } else ecta {
    gap 1%
  }
}
