sdc 1
policy "Turnover {turnover.year}"

param turnover.year = 2025
