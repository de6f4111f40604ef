sdc 1
use "f12.sdc"
