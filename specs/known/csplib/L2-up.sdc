sdc 1
#! expect data=targus method=cta objective=1084.09 mean=4.102 norm2=4963.9
#! expect data=table7 method=cta objective=59605.1 mean=7.183 norm2=32984.2
#! expect data=table8 method=cta objective=1.89572 mean=0.057 norm2=14.5
#! expect data=hier13x7x7d method=cta objective=278.021 mean=1.038 norm2=1075.2
#! expect data=hier13 method=cta objective=1033.34 mean=0.874 norm2=2149.3
#! expect data=hier13x13x13a method=cta objective=1028.73 mean=0.866 norm2=2161.7
#! expect data=hier16 method=cta objective=1544.98 mean=0.901 norm2=2706.3
#! expect data=two5in6 method=cta objective=4593.08 mean=1.650 norm2=3749.3
#! expect data=ninenew method=cta objective=5907.42 mean=1.760 norm2=4444.3
#! expect data=osorio method=cta objective=2.04222 mean=0.055 norm2=2.7
#! expect data=cbs method=cta objective=88515.6 mean=42.942 norm2=55731.8
policy "Known answers: CSPLIB, L2, all senses up"

# Which file of CSPLIB stands for this name is said with --data.
table t {
  jj "instance.jj"
}

protect t {
  cost if value > 0 then 1 / value otherwise 1
  method cta {
    norm L2
    sense up
  }
}
