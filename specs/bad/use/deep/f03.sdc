sdc 1
use "f04.sdc"
