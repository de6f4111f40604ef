sdc 1
use "f4.sdc" as a
use "f4.sdc" as b
