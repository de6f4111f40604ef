sdc 1
use "f05.sdc"
