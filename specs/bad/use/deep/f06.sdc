sdc 1
use "f07.sdc"
