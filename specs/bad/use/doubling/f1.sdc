sdc 1
use "f2.sdc" as a
use "f2.sdc" as b
