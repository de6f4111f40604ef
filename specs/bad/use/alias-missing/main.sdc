sdc 1
# Names of a file used `as office` start with `office.`
use "rules.sdc" as office

scenario press {
  against external
}

override attacker external {
  bounds 0 .. 100
}
