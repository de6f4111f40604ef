sdc 1
policy "House rules: frequency tables of persons"

# For counts of people: small counts identify, and so do zeros beside a single full cell.
sensitive where value = 1 or value = 2

# Knows the village: counts are not negative, and where nobody lives, nobody lives.
attacker neighbour {
  bounds 0 .. inf
  knows zeros
}

scenario census {
  against neighbour
  lpl 1
  upl 3
}

require upl >= 2 where value < 3 because "Handbook of population tables 2.1: room for two more persons"
