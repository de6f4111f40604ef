sdc 1
use "f09.sdc"
