sdc 1
use "f11.sdc"
