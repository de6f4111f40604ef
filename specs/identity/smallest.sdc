sdc 1
