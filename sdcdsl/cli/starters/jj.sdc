sdc 1
policy "A table from a JJ file"

# Values, bounds, levels, weights, statuses and relations all come from the file.
table t {
  jj "table.jj"
}

protect t {
  method csp {
    time_limit 10 min
  }
  release jj "table-protected.jj"
}
