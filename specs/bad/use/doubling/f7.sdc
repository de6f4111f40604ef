sdc 1
use "f8.sdc" as a
use "f8.sdc" as b
