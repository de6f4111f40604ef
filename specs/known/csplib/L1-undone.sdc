sdc 1
#! expect data=targus recomputed=100
#! expect data=table8 recomputed=100
#! expect data=hier13x7x7d recomputed=100
#! expect data=hier13 recomputed=100
policy "Known answers: CSPLIB, who knows senses and levels undoes L1 (paper 002, Tables 6 and 8)"
seed 1

# Which file of CSPLIB stands for this name is said with --data.
table t {
  jj "instance.jj"
}

protect t {
  cost if value > 0 then 1 / value otherwise 1
  method cta {
    norm L1
    sense up
  }
  assess B3, C {
    replications 3
  }
}
