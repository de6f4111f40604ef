sdc 1
use "f06.sdc"
