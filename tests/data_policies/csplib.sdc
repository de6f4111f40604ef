sdc 1
policy "A table of the CSPLIB collection, as its file gives it"

# Which of the eleven files it is, the test says: --data t=FILE.
table t {
  jj "hier13.jj"
}

protect t {
  method csp
}
