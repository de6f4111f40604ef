sdc 1

attacker informed {
  bounds 50% of value .. 200% of value
}

scenario competitor {
  against informed
  upl 20% of value
}
