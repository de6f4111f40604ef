sdc 1
use "f14.sdc"
