sdc 1
policy "Turnover {year"

param year = 2025
