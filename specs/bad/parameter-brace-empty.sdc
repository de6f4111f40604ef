sdc 1
policy "Turnover {} and {year + 1}"

param year = 2025
