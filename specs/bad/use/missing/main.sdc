sdc 1
# Three ways to miss a file.
use "house-rule.sdc" as office
use "rules/house-rules.sdc"
use ""
