sdc 1
# A JJ file has no dimensions.

dimension size {
  codes small, large
  total all
}

table t {
  jj "hier13.jj"
  by size
}

protect t {
  method csp
}
