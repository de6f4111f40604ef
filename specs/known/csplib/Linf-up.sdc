sdc 1
#! expect data=hier13 method=cta maximum=9.97 maximum_others=8.28
#! expect data=hier16 method=cta maximum=10.0 maximum_others=7.59
#! expect data=ninenew method=cta maximum=10.0 maximum_others=9.93
#! expect data=two5in6 method=cta maximum=10.0 maximum_others=8.44
policy "Known answers: paper 004, Table 3, the largest deviations, all senses up"

# Which file of CSPLIB stands for this name is said with --data.
table t {
  jj "instance.jj"
}

protect t {
  cost if value > 0 then 1 / value otherwise 1
  method cta {
    norm Linf
    sense up
  }
}
