sdc 1
use "f02.sdc"
