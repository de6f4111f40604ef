sdc 1
policy "Turnover {yaer}"

param year = 2025
