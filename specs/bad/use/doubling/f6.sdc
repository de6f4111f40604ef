sdc 1
use "f7.sdc" as a
use "f7.sdc" as b
