sdc 1
# Names and codes of many languages; the marks stand below the right letters.

dimension région {
  codes Ελλάδα, "東京 都"
  total Country
}

table umsätze {
  by région
  values
    | région  | value |
    | Ελλάδα   |    12 |
    | "東京 都"   |    30 |
    | Country |    42 |
}

sensitive umsätze at (région: Ελλάδ)

attacker нападающий {
  bounds 0 .. inf
}

protect umsätze {
  lpl 2
  upl 3 where région = "東京" and value > 10%
  against нападающи
  method csp
}
