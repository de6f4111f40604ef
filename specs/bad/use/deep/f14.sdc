sdc 1
use "f15.sdc"
