sdc 1
use "f17.sdc"
