sdc 1
use "f6.sdc" as a
use "f6.sdc" as b
