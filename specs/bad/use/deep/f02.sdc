sdc 1
use "f03.sdc"
