sdc 1

dimension listed {
  codes A, "B 1", 47, 3.5, "10-49", "50+", "say ""no"""
  total all
}

dimension folded {
  codes Baden, Bayern, Berlin, Brandenburg, Bremen, Hamburg, Hessen, Mecklenburg, Niedersachsen,
      Nordrhein, Rheinland, Saarland, Sachsen, "Sachsen-Anhalt", Schleswig, Thüringen
  total DE
}

dimension sums {
  hierarchy all = goods + services
  hierarchy goods = food + other
  hierarchy net = goods - returns as netted
  hierarchy loss = -gain + cost as signed
  total all
}

dimension tree {
  hierarchy tree
    - Europe
      - West
        - "FR 1"
        - DE
      - East
        - PL
  hierarchy tree as climate
    - Europe
      - cold
        - PL
      - mild
        - DE
        - "FR 1"
}

dimension files {
  hierarchy hrc "nace.hrc" {
    lead "@"
  }
  hierarchy columns "correspondence.csv" {
    delimiter ";"
    levels section, division, group
  } as broad
  hierarchy parents "parents.csv" {
    child CODE
    parent PARENT
    encoding "cp1252"
  } as official
  hierarchy prefix 1, 2, 4 as digits
  total "B-N"
}

override dimension listed {
  codes Z
}
