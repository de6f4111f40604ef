sdc 1
use "f13.sdc"
