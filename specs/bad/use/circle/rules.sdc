sdc 1
use "main.sdc"

sensitive by threshold(3)
