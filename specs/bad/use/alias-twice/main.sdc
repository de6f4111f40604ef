sdc 1
# One alias for two files, and a name that is an alias too.
use "a.sdc" as office
use "b.sdc" as office
use "a.sdc" as press

attacker press {
  bounds 0 .. inf
}
