sdc 1
use "house-{year}.sdc" as office
policy "Turnover"

param year = 2025
