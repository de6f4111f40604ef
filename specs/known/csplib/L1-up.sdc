sdc 1
#! expect data=targus method=cta objective=4.66106 mean=4.053
#! expect data=table7 method=cta objective=28.4557 mean=5.879
#! expect data=table8 method=cta objective=0.341259 mean=0.027
#! expect data=hier13x7x7d method=cta objective=4.65907 mean=0.898
#! expect data=hier13 method=cta objective=16.2828 mean=0.806
#! expect data=hier13x13x13a method=cta objective=15.7745 mean=0.781
#! expect data=hier16 method=cta objective=29.6833 mean=0.833
#! expect data=two5in6 method=cta objective=83.1397 mean=1.463
#! expect data=ninenew method=cta objective=101.910 mean=1.557
#! expect data=osorio method=cta objective=3.00516 mean=0.029
#! expect data=cbs method=cta objective=1167.06 mean=40.593
policy "Known answers: CSPLIB, L1, all senses up"

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
}
