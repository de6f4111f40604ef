sdc 1
policy "Turnover {region}"

dimension region {
  codes A, B
  total T
}

param region = "A"
