sdc 1

sensitive by threshold(3)
