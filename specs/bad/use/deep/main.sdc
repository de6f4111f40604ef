sdc 1
# Seventeen files, each of which uses the next one.
use "f01.sdc"
