sdc 1
policy "Every way to get a table"

data enterprises {
  csv "enterprises.csv" {
    delimiter ";"
    decimal ","
    missing "NA"
  }
  column unit = "enterprise_id"
  column group = "holding_id"
  column weight = "design_weight"
  column request = "asked"
}

data cells {
  parquet "cells.parquet"
  column status = "FLAG"
}

data old {
  argus "old.asc" {
    metadata "old.rda"
  }
}

dimension nace {
  hierarchy hrc "nace.hrc"
  total Total
}

dimension size {
  codes small, large
  total all
}

dimension sex {
  codes m, f
  total t
}

table micro {
  from enterprises
  by nace, size
  sum turnover
  unit "thousand EUR"
  measure turnover
  only where turnover > 0 and not (nace under C)
}

table counted {
  from enterprises
  by size
  count
  integer
}

table of_people {
  from enterprises
  by size, nace, sex
  count
  attribute nace, sex
}

table ready_made {
  from cells
  by nace, size
  value TOT {
    absent zero
  }
  count N_OBS
  largest(1) MAX
  largest(2) "MAX 2"
  weight COST
  status FLAG {
    sensitive "C", "D"
    safe ""
    fixed F
    hidden X
  }
}

table long {
  by sex, size
  values
    | sex | size  |  value |
    | --- | ----- | ------ |
    | m   | small |   1.25 |
    | m   | large |    300 |
    | f   | small | -12.50 |
    | f   | large |    1e3 |
}

table crossed {
  by sex, size
  values
    | sex \ size | small | large | all |
    | m          |     1 |     2 |   3 |
    | f          |     4 |     5 |   9 |
    | t          |     5 |     7 |  12 |
}

table file {
  jj "hier13.jj"
}

override table crossed {
  unit "persons"
}
