sdc 1
policy "Turnover {title}"

param year = 2025
param title = "in {year}"
