sdc 1
use "f08.sdc"
