sdc 1
#! expect data=targus method=cta objective=4.3938
#! expect data=table7 method=cta objective=20.388
#! expect data=table8 method=cta objective=0.34104
#! expect data=osorio method=cta objective=2.9639
policy "Known answers: CSPLIB, L1, free senses, proven optimal"

# Which file of CSPLIB stands for this name is said with --data.
table t {
  jj "instance.jj"
}

protect t {
  cost if value > 0 then 1 / value otherwise 1
  method cta {
    norm L1
    sense free
  }
}
