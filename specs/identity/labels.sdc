sdc 1
policy "Labels"

dimension region {
  codes North, South
  total Country
  # In two languages.
  labels csv "regions.csv"
  labels en_GB csv "regions-en.csv" {
    code "NUTS"
    label "NAME_EN"
  }
  labels de cdl "region.cdl"
}

data plants {
  csv "plants.csv"
  column unit = "plant"
}

table energy {
  from plants
  by region
  sum output
}

sensitive by threshold(3)

attacker external {
  bounds 0 .. inf
}

protect energy {
  lpl needed
  upl needed
  against external
  method csp
  release csv "energy.csv" {
    labels en_GB, de
  }
  release html "energy.html" {
    labels de
  }
}
