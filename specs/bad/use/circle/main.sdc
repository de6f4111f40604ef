sdc 1
# main.sdc uses rules.sdc, which uses main.sdc again.
use "rules.sdc"
policy "A circle of two"
