sdc 1
use "f10.sdc"
