sdc 1
use "f16.sdc"
