sdc 1
policy "Turnover {value}"

param value = 2025
