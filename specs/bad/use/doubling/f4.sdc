sdc 1
use "f5.sdc" as a
use "f5.sdc" as b
