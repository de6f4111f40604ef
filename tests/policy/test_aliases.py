"""Files used under a name: their names change, and nothing else does."""

from __future__ import annotations

from pathlib import Path

from sdcdsl.policy import document as d
from sdcdsl.policy.read import read_policy

TABLE = """sdc 1
dimension reg {
  codes A, B, size
  total T
}
dimension size {
  hierarchy columns "s.csv" {
    levels size, big
  }
  total T
}
dimension form {
  codes x, y
  total T
}
data d {
  csv "d.csv"
  column reg = "REGION"
}
table typed {
  by reg, form
  values
    | reg \\ form | x | y |
    | A | 1 | 2 |
    | B | 3 | 4 |
    | size | 5 | 6 |
}
table long {
  by form
  values
    | form | value |
    | x | 1 |
    | y | 2 |
}
table made {
  from d
  by reg, size
  sum v
}
sensitive typed at (reg: A, form: x)
sensitive made where reg = size and level(size) > 1
"""


def read(folder: Path, **files: str) -> tuple:
    for name, text in files.items():
        (folder / f"{name}.sdc").write_text(text, encoding="utf-8")
    policy, found = read_policy(folder / "main.sdc")
    return policy, [x.code for x in found]


def test_a_table_can_be_used_under_a_name(tmp_path: Path):
    policy, found = read(tmp_path, house=TABLE, main='sdc 1\nuse "house.sdc" as h\n')
    assert found == []
    assert policy.tables["h.typed"].the(d.By).dimensions == ("h.reg", "h.form")
    assert policy.tables["h.typed"].the(d.Values).rows[0][0].text == "h.reg \\ h.form"
    assert [c.text for c in policy.tables["h.long"].the(d.Values).rows[0]] == ["h.form", "value"]
    assert policy.data["h.d"].the(d.Column).role == "h.reg"


def test_codes_and_columns_are_nobodys_names(tmp_path: Path):
    policy, _ = read(tmp_path, house=TABLE, main='sdc 1\nuse "house.sdc" as h\n')
    (option,) = policy.dimensions["h.size"].the(d.HierarchyFile).file.options
    assert [v.name for v in option.values] == ["size", "big"]
    condition = policy.facts[1].cells.where
    compare, level = condition.parts
    assert (compare.left.name, compare.right.name) == ("h.reg", "size")
    assert level.left.arguments[0].value.name == "h.size"


def test_names_of_files_used_without_a_name_belong_to_the_file_that_uses_them(tmp_path: Path):
    base = "sdc 1\nattacker ext {\n  bounds 0 .. inf\n}\n"
    house = 'sdc 1\nuse "base.sdc"\nscenario s {\n  against ext\n}\noverride attacker ext {\n  bounds 1 .. 9\n}\n'
    policy, found = read(tmp_path, base=base, house=house, main='sdc 1\nuse "house.sdc" as h\n')
    assert found == []
    assert policy.scenarios["h.s"].the(d.Against).attackers == ("h.ext",)
    assert len(policy.attackers["h.ext"].all(d.Bounds)) == 2


def test_names_within_names(tmp_path: Path):
    base = "sdc 1\ndimension r {\n  codes A\n  total T\n}\nattacker ext {\n  bounds 0 .. inf where r = A\n}\n"
    house = 'sdc 1\nuse "base.sdc" as b\nscenario s {\n  against b.ext\n  upl 3 where b.r = A\n}\n'
    policy, found = read(tmp_path, base=base, house=house, main='sdc 1\nuse "house.sdc" as h\n')
    assert found == []
    assert list(policy.attackers) == ["h.b.ext"]
    assert policy.attackers["h.b.ext"].the(d.Bounds).where.left.name == "h.b.r"
    assert policy.scenarios["h.s"].the(d.Level).where.left.name == "h.b.r"


def test_facts_about_the_tables_of_both_copies_count(tmp_path: Path):
    general = "sensitive where value = 0\n"
    main = 'sdc 1\nuse "house.sdc" as a\nuse "house.sdc" as b\n'
    policy, found = read(tmp_path, house=TABLE + general, main=main)
    assert found == []
    tables = [f.cells.table for f in policy.facts]
    assert tables == ["a.typed", "a.made", None, "b.typed", "b.made"]


def test_what_is_declared_twice_is_complained_about_once(tmp_path: Path):
    main = """sdc 1
dimension r {
  codes A, B
  total T
}
dimension r {
  codes C, D
  total T
}
table t {
  by r
  values
    | r | value |
    | A | 1 |
    | B | 2 |
}
sensitive t at (r: A)
"""
    assert read(tmp_path, main=main)[1] == ["SDC100"]
