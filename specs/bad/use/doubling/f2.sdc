sdc 1
use "f3.sdc" as a
use "f3.sdc" as b
