sdc 1
policy "Patients by diagnosis, hospital and age, 2025"

data patients {
  csv "patients.csv"  # one row a patient
}

dimension diagnosis {
  hierarchy hrc "diagnosis.hrc"
  total all
}

dimension hospital {
  hierarchy hrc "hospital.hrc"
  total country
}

dimension age {
  codes "0-14", "15-44", "45-64", "65+"
  total "every age"
}

table patients {
  from patients
  by diagnosis, hospital, age
  count
  integer
  unit "patients"
}

sensitive by threshold(3)  # one or two patients

fix where value = 0 because "no patient: nobody to protect, and readers may know it"

attacker external {
  bounds 0 .. inf
}

# Every figure a multiple of 3: nothing is missing, everything is a little wrong.
protect patients as rounded {
  lpl 1
  upl needed
  against external
  method rounding {
    base 3
    time_limit 3 min
  }
  release csv "patients-rounded.csv"
}

# Every figure true, some missing.
protect patients as hidden {
  lpl 1
  upl needed
  against external
  cost value
  method csp {
    time_limit 3 min
  }
  release csv "patients-hidden.csv"
}
