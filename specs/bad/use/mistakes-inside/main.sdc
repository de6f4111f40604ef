sdc 1
# Mistakes of the used file are reported at their place there.
use "rules.sdc" as office
policy "Mistakes on both sides"

scenario careless {
  against office.extrenal
}
