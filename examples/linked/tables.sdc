sdc 1
policy "Turnover by activity and by product: tables, rules and attacker"

data lines {
  csv "lines.csv"  # one row for each product of an enterprise
  column unit = "enterprise_id"
}

dimension nace {
  hierarchy hrc "nace.hrc"
  total "C-I"
}

dimension product {
  hierarchy hrc "product.hrc"
  total sales
}

dimension nuts {
  hierarchy hrc "nuts.hrc"
  total XA
}

table by_activity {
  from lines
  by nace, nuts
  sum turnover
  unit "thousand EUR"
}

table by_product {
  from lines
  by product, nuts
  sum turnover
  unit "thousand EUR"
}

sensitive by threshold(3)
sensitive by p_percent(15%)

publish where nace = "C-I" and nuts at level 1
publish where product = sales and nuts at level 1
fix where value = 0

attacker external {
  bounds 0 .. inf
}
