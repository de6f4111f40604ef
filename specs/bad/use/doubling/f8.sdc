sdc 1
use "f9.sdc" as a
use "f9.sdc" as b
