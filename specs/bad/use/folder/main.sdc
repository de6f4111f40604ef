sdc 1
# A folder with the name of a file.
use "rules.sdc"
