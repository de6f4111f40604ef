"""Policies that differ in one word about random noise."""

from __future__ import annotations

from tests.words.case import Case

POLICY = """sdc 1
policy "noise"
data d {
  csv "people.csv"
  column unit = "unit"
  KEY
}
dimension r {
  codes R0, R1
  total RT
}
dimension c {
  codes C0, C1
  total CT
}
table t {
  from d
  by r, c
  count
}
sensitive by threshold(3)
attacker e {
  bounds 0 .. inf
}
protect t {
  upl needed
  against e
  method cellkey {
    OPTIONS
  }
  release csv "released.csv"
}
"""
CELLS = {("R0", "C0"): 2, ("R0", "C1"): 7, ("R1", "C0"): 5, ("R1", "C1"): 11}
RECORDS = [(r, c) for (r, c), count in CELLS.items() for _ in range(count)]
FILES = {
    "people.csv": "unit,r,c,k\n"
    + "".join(f"U{n},{r},{c},{(0.137 * (n + 1)) % 1:.3f}\n" for n, (r, c) in enumerate(RECORDS)),
    "secret.txt": "a secret of sixteen bytes and more",
    "other.txt": "another secret of sixteen bytes",
    "ptable.csv": "i;j;p;v;p_int_lb;p_int_ub\n0;0;1;0;0;1\n1;0;0.5;-1;0;0.5\n1;2;0.5;1;0.5;1\n",
}
ALWAYS = "deviation 5; variance 3"
SECRET = 'secret_file "secret.txt"'


def _both(without: str, given: str, key: tuple[str, str] = ("", "")) -> Case:
    texts = [
        POLICY.replace("OPTIONS", said.replace("; ", "\n    ")).replace("  KEY\n", f"  {column}\n" if column else "")
        for said, column in zip((without, given), key, strict=True)
    ]
    return Case(*texts, files=FILES)


def _more(option: str) -> Case:
    return _both(f"{ALWAYS}; {SECRET}", f"{ALWAYS}; {SECRET}; {option}")


OPTIONS = {
    "cellkey gap": _more("gap 90%"),  # refused
    "cellkey unions": _more("unions off"),  # refused
    "cellkey time_limit": _more("time_limit 0 s"),
    "cellkey deviation": _both(f"deviation 4; variance 3; {SECRET}", f"deviation 9; variance 3; {SECRET}"),
    "cellkey variance": _both(f"deviation 9; variance 2; {SECRET}", f"deviation 9; variance 8; {SECRET}"),
    "cellkey smallest": _both(f"deviation 9; variance 8; {SECRET}", f"deviation 9; variance 8; smallest 5; {SECRET}"),
    "cellkey ptable": _both(f"{ALWAYS}; {SECRET}", f'ptable "ptable.csv"; {SECRET}'),
    "cellkey secret_file": _both(f"{ALWAYS}; {SECRET}", f'{ALWAYS}; secret_file "other.txt"'),
    "cellkey secret_variable": _both(f"{ALWAYS}; {SECRET}", f'{ALWAYS}; secret_variable "NOWHERE_IN_THE_ENVIRONMENT"'),
    "cellkey additive": _more("additive"),
}
KEY = _both(f"{ALWAYS}; {SECRET}", f"{ALWAYS}; {SECRET}", ("", 'column key = "k"'))
