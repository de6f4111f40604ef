sdc 1
policy "Namen, κωδικοί, 名前"

dimension région {
  codes Île_de_France, "Provence-Alpes-Côte d’Azur", Ελλάδα, Москва, 東京
  total Всего
}

# 表の幅は文字の幅で数える。
table umsätze {
  by région
  values
    | région                       | value |
    | Île_de_France                |    10 |
    | "Provence-Alpes-Côte d’Azur" |  20.5 |
    | Ελλάδα                       |   300 |
    | Москва                       |     4 |
    | 東京                         |  5000 |
  unit "Mio €"
}

sensitive umsätze at (région: 東京) because "секрет"

attacker нападающий {
  bounds 0 .. inf
}

protect umsätze {
  lpl 10% of value
  upl 12% of value where région != Москва
  against нападающий
  method csp
  release csv "umsätze.csv"
}
