sdc 1
# Files outside of the policy's folder are not read.
use "../rules/house.sdc" as office
use "/srv/office/rules.sdc"
