"""Data that does not fit its policy: exit code 3, the right diagnostic, file, row and column, ten offenders."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

import pytest
from click.testing import CliRunner

from sdcdsl.cli import cli

CELLS = """sdc 1
policy "Ready-made cells"

data cells {
  csv "cells.csv"
}

dimension area {
  hierarchy hrc "area.hrc"
  total All
}

dimension size {
  codes small, large
  total all
}

table t {
  from cells
  by area, size
  value v
  count n
  largest(1) m
}

sensitive by threshold(3)

attacker external {
  bounds 0 .. inf
}

protect t {
  lpl needed
  upl max(needed, 1)
  against external
  cost 1
  method csp
}
"""
MICRO = CELLS.replace(
    """  value v
  count n
  largest(1) m
""",
    "  sum x\n",
).replace('csv "cells.csv"', 'csv "records.csv"\n  column unit = "who"\n  column weight = "w"')
FILES = {
    "area.hrc": "North\n@n1\n@n2\nSouth\n@s1\n",
    "cells.csv": """area,size,v,n,m
n1,small,10,2,8
n1,large,20,5,6
n2,small,30,5,9
n2,large,40,5,9
s1,small,50,5,9
s1,large,60,5,9
All,all,210,27,9
""",
    "records.csv": """area,size,who,x,w
n1,small,a,10,1
n1,large,b,20,1
n2,small,c,30,2
n2,large,d,40,1
s1,small,e,50,1
s1,large,f,60,1
""",
}


def plan(folder: Path, policy: str, files: Mapping[str, str | bytes | None], *options: str):
    """Run the command in a folder with the good files, and the bad ones over them."""
    for name, text in {**FILES, "p.sdc": policy, **files}.items():
        if text is not None:
            (folder / name).write_bytes(text.encode() if isinstance(text, str) else text)
    result = CliRunner().invoke(cli, ["plan", str(folder / "p.sdc"), "--no-colour", "--today", "2026-01-01", *options])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exc_info
    assert "Traceback" not in result.output
    return result


def test_the_good_files_are_good(tmp_path):
    for policy in (CELLS, MICRO):
        result = plan(tmp_path, policy, {})
        assert result.exit_code == 0, result.output
        assert "error" not in result.output


def test_a_leaf_that_the_totals_leave_nothing_for_is_zero_and_named(tmp_path):
    sparse = FILES["cells.csv"].replace("n2,small,30,5,9\n", "").replace("All,all,210,27,9", "All,all,180,22,9")
    result = plan(tmp_path, CELLS, {"cells.csv": sparse})
    assert result.exit_code == 0, result.output
    assert "warning[SDC343]" in result.output and "area = n2, size = small" in result.output


def test_a_policy_may_say_that_absent_cells_are_empty(tmp_path):
    sparse = FILES["cells.csv"].replace("n2,small,30,5,9\n", "").replace("All,all,210,27,9\n", "")
    result = plan(tmp_path, said(CELLS, "value v\n", "value v {\n    absent zero\n  }\n"), {"cells.csv": sparse})
    assert result.exit_code == 0, result.output
    assert "SDC" not in result.output
    result = plan(tmp_path, said(CELLS, "value v\n", "value v {\n    absent nothing\n  }\n"), {"cells.csv": sparse})
    assert result.exit_code == 1 and "SDC109" in result.output


@pytest.mark.parametrize("negative", ["s1,small,-50,5,9", "s1,large,-60,5,9"])
def test_where_values_are_negative_totals_show_nothing_about_absent_cells(tmp_path, negative):
    """10 + 20 + 40 and the rest: two absent cells of +7 and -7 would not be seen."""
    positive = negative.replace("-", "")
    sparse = FILES["cells.csv"].replace("n2,small,30,5,9\n", "").replace(positive, negative)
    total = 180 - 2 * int(positive.split(",")[2])
    policy = said(CELLS, "bounds 0 .. inf", "bounds -inf .. inf")
    result = plan(tmp_path, policy, {"cells.csv": sparse.replace("210,27", f"{total},22")})
    assert result.exit_code == 3 and "SDC309" in result.output, result.output


def test_contributions_that_rounding_explains_are_possible(tmp_path):
    """5.5 and 4.6 are 10.1 together: 6, 5 and 10 in a file of whole numbers."""
    rounded = with_second("n1,small,10,2,8", 5)["cells.csv"].replace("n1,small,10,2,8", "n1,small,10,2,6")
    assert plan(tmp_path, TWO_LARGEST, {"cells.csv": rounded}).exit_code == 0
    exact = re.sub(r"^(\w+,\w+,\d+)", r"\1.0001", rounded, flags=re.MULTILINE)
    exact = re.sub("All,all,.*\n", "", exact)
    result = plan(tmp_path, TWO_LARGEST, {"cells.csv": exact})  # with four decimals nothing was rounded to 6 and 5
    assert result.exit_code == 3 and "SDC323" in result.output


def test_contributions_to_negative_cells_may_have_any_sign(tmp_path):
    files = changed("cells.csv", "n2,small,30,5,9", "n2,small,-30,5,-40")
    files = {"cells.csv": files["cells.csv"].replace("210,27", "150,27")}
    result = plan(tmp_path, said(CELLS, "bounds 0 .. inf", "bounds -inf .. inf"), files)
    assert result.exit_code == 0, result.output


def test_a_decimal_comma_is_the_first_thing_said(tmp_path, monkeypatch):
    monkeypatch.delenv("SDCDSL_SHOW_VALUES", raising=False)
    commas = re.sub(r"^(\w+,\w+),(\d+)", r'\1,"\2,5"', FILES["cells.csv"], flags=re.MULTILINE)
    headline, *rest = plan(tmp_path, CELLS, {"cells.csv": commas}).output.splitlines()
    assert headline.endswith("cells.csv: decimals with `,`")
    assert [line.strip() for line in rest if line][1:3] == [
        "= and 6 more",
        '= help: if `,` is the decimal mark of this file: { decimal "," } after its name',
    ]
    words = plan(tmp_path, CELLS, changed("cells.csv", ",30,5,9", ",3o,5,9")).output
    assert "cells.csv:4" in words and "found" not in words  # nothing is said of what may not be shown


def test_an_empty_field_is_called_empty(tmp_path):
    headline, place, *rest = plan(tmp_path, MICRO, changed("records.csv", ",30,2", ",,2")).output.splitlines()
    assert headline == "error[SDC307]: column x is empty where a number belongs"
    assert place.endswith("records.csv:4 (column x)")
    assert rest == ["   = the field is empty"]


def test_totals_with_too_many_digits_are_warned_of(tmp_path):
    for value, warned in (("9e14", False), ("2e15", True), ("1e17", True)):
        result = plan(tmp_path, MICRO, changed("records.csv", "n1,small,a,10", f"n1,small,a,{value}"))
        assert result.exit_code == 0, result.output
        assert ("warning[SDC336]" in result.output) == warned
        assert not warned or ("area = n1, size = small" in result.output and value not in result.output)


def changed(name: str, old: str, new: str) -> dict[str, str]:
    assert old in FILES[name]
    return {name: FILES[name].replace(old, new)}


def said(policy: str, old: str, new: str) -> str:
    assert old in policy, old
    return policy.replace(old, new)


TWO_LARGEST = said(CELLS, "  largest(1) m\n", "  largest(1) m\n  largest(2) m2\n")


def with_second(line: str, second: int) -> dict[str, str]:
    """The cells with a second largest contribution of 1, but for one of them."""
    assert line in FILES["cells.csv"]
    header, *rows = FILES["cells.csv"].splitlines()
    rows = [f"{row},{second if row == line else 1}" for row in rows]
    return {"cells.csv": "\n".join([f"{header},m2", *rows]) + "\n"}


CASES = {
    # what: (policy, files, code, what the message must name)
    "wrong columns": (CELLS, changed("cells.csv", "area,size,v", "area,size,val"), "SDC303", ["cells.csv", "`v`"]),
    "wrong columns of records": (MICRO, changed("records.csv", ",w\n", ",weight\n"), "SDC303", ["records.csv", "`w`"]),
    "unknown code": (CELLS, changed("cells.csv", "n2,small", "n3,small"), "SDC304", ["cells.csv:4", "area", "`n3`"]),
    "unknown code of a record": (
        MICRO,
        changed("records.csv", "n2,small", "n3,small"),
        "SDC304",
        ["records.csv:4", "column area", "`n3`"],
    ),
    "no code": (MICRO, changed("records.csv", "n2,small", ",small"), "SDC304", ["records.csv:4", "column area"]),
    "a total among records": (
        MICRO,
        changed("records.csv", "n2,small", "North,small"),
        "SDC304",
        ["records.csv:4", "column area", "`North`"],
    ),
    "duplicate cell": (
        CELLS,
        changed("cells.csv", "n2,small", "n1,small"),
        "SDC305",
        ["cells.csv:4", "area = n1, size = small"],
    ),
    "text in a number": (CELLS, changed("cells.csv", ",30,5,9", ",thirty,5,9"), "SDC306", ["cells.csv:4", "column v"]),
    "text in a record": (
        MICRO,
        changed("records.csv", ",30,2", ",3o,2"),
        "SDC306",
        ["records.csv:4", "column x", "`3o`"],
    ),
    "decimal comma": (CELLS, changed("cells.csv", ",30,5,9", ',"30,5",5,9'), "SDC306", ["cells.csv:4", "decimal"]),
    "NaN": (CELLS, changed("cells.csv", ",30,5,9", ",NaN,5,9"), "SDC307", ["cells.csv:4", "column v", "`NaN`"]),
    "inf": (MICRO, changed("records.csv", ",30,2", ",inf,2"), "SDC307", ["records.csv:4", "column x", "`inf`"]),
    "sums that overflow": (
        MICRO,
        changed("records.csv", "n1,small,a,10", "n2,small,a,1.7e308"),
        "SDC307",
        ["records.csv", "table `t`", "column `x`", "area = n2, size = small"],
    ),
    "a total that overflows": (
        CELLS,
        {
            "cells.csv": FILES["cells.csv"]
            .replace(",10,", ",1e308,")
            .replace(",20,", ",1e308,")
            .replace("All,all,210", "All,all,")
        },
        "SDC307",
        ["cells.csv", "table `t`", "area = All, size = all"],
    ),
    "no number": (MICRO, changed("records.csv", ",30,2", ",,2"), "SDC307", ["records.csv:4", "column x"]),
    "negative weight": (MICRO, changed("records.csv", ",30,2", ",30,-2"), "SDC323", ["records.csv:4", "column w"]),
    "a total that fails": (
        CELLS,
        changed("cells.csv", "All,all,210", "All,all,200"),
        "SDC301",
        ["cells.csv", "area = All, size = all", "210", "200", "off by 10"],
    ),
    "a hole": (CELLS, changed("cells.csv", "n2,small,30,5,9", "n2,small,,5,9"), "SDC309", ["area = n2, size = small"]),
    "no count": (
        CELLS,
        changed("cells.csv", "n2,small,30,5,9", "n2,small,30,,9"),
        "SDC309",
        ["cells.csv:4", "column n"],
    ),
    "no largest": (
        CELLS,
        changed("cells.csv", "n2,small,30,5,9", "n2,small,30,5,"),
        "SDC309",
        ["cells.csv:4", "column m"],
    ),
    "a leaf without a row": (
        CELLS,
        {"cells.csv": FILES["cells.csv"].replace("n2,small,30,5,9\n", "").replace("All,all,210,27,9\n", "")},
        "SDC309",
        ["cells.csv", "area = n2, size = small", "absent zero"],
    ),
    "a leaf without a row, below a total that counts its contributors": (
        CELLS,
        {"cells.csv": FILES["cells.csv"].replace("n2,small,30,5,9\n", "").replace("210,27", "180,23")},
        "SDC309",
        ["cells.csv", "area = n2, size = small", "more contributors"],
    ),
    "a largest contribution above the value": (
        CELLS,
        changed("cells.csv", "n2,small,30,5,9", "n2,small,30,5,31"),
        "SDC323",
        ["cells.csv:4", "column m", "area = n2, size = small", "m 31", "value 30"],
    ),
    "a negative largest contribution": (
        CELLS,
        changed("cells.csv", "n2,small,30,5,9", "n2,small,30,5,-9"),
        "SDC323",
        ["cells.csv:4", "column m", "area = n2, size = small", "m -9"],
    ),
    "more contributions than contributors": (
        CELLS,
        changed("cells.csv", "n2,small,30,5,9", "n2,small,30,0,9"),
        "SDC323",
        ["cells.csv:4", "column n", "area = n2, size = small"],
    ),
    "fewer contributors than none": (
        CELLS,
        changed("cells.csv", "n2,small,30,5,9", "n2,small,30,-5,9"),
        "SDC323",
        ["cells.csv:4", "column n", "area = n2, size = small"],
    ),
    "a second contribution above the first": (
        TWO_LARGEST,
        with_second("n2,small,30,5,9", 10),
        "SDC323",
        ["cells.csv:4", "column m2", "`m`", "area = n2, size = small"],
    ),
    "contributions larger together than the cell": (
        TWO_LARGEST,
        {"cells.csv": with_second("n1,small,10,2,8", 8)["cells.csv"]},
        "SDC323",
        ["cells.csv:2", "column m2", "together", "area = n1, size = small"],
    ),
    "empty cells": (CELLS, {"cells.csv": ""}, "SDC308", ["cells.csv"]),
    "only a header": (CELLS, {"cells.csv": "area,size,v,n,m\n"}, "SDC308", ["cells.csv"]),
    "empty records": (MICRO, {"records.csv": ""}, "SDC308", ["records.csv"]),
    "empty hierarchy": (CELLS, {"area.hrc": ""}, "SDC308", ["area.hrc"]),
    "missing file": (CELLS, {"cells.csv": None}, "SDC302", ["cells.csv"]),
    "missing hierarchy": (CELLS, {"area.hrc": None}, "SDC302", ["area.hrc"]),
    "not text": (CELLS, {"cells.csv": b"area,size,v\n\x00\x01\x00,1,2\n"}, "SDC302", ["cells.csv"]),
    "another encoding": (
        CELLS,
        {"cells.csv": "area,size,v,n,m\nN\u00f6rd,small,1,1,1\n".encode("latin-1")},
        "SDC317",
        ["cells.csv"],
    ),
    "a circle": (
        said(CELLS, 'hierarchy hrc "area.hrc"', 'hierarchy parents "area.csv"'),
        {"area.csv": "child,parent\nn1,North\nNorth,n1\ns1,All\n"},
        "SDC310",
        ["area.csv", "North"],
    ),
    "two parents": (
        said(CELLS, 'hierarchy hrc "area.hrc"', 'hierarchy parents "area.csv"'),
        {"area.csv": "child,parent\nNorth,All\nSouth,All\nn1,North\nn2,North\nn1,South\ns1,South\n"},
        "SDC311",
        ["area.csv:6", "n1"],
    ),
    "two parents in an .hrc": (CELLS, {"area.hrc": "North\n@n1\n@n2\nSouth\n@n1\n"}, "SDC311", ["area.hrc:5", "n1"]),
    "levels that jump": (CELLS, {"area.hrc": "North\n@@@n1\n"}, "SDC312", ["area.hrc:2"]),
    "negative values": (
        MICRO,
        changed("records.csv", ",30,2", ",-30,2"),
        "SDC318",
        ["p.sdc", "bounds 0 .. inf", "area = n2, size = small"],
    ),
    "bounds that exclude the truth": (
        said(CELLS, "bounds 0 .. inf", "bounds 0 .. 55"),
        {},
        "SDC319",
        ["p.sdc", "bounds 0 .. 55", "area = s1, size = large"],
    ),
    "a level no bound allows": (
        said(CELLS, "lpl needed", "lpl 11"),
        {},
        "SDC320",
        ["p.sdc", "lpl 11", "area = n1, size = small requires 11, the bounds leave 10"],
    ),
    "division by zero": (
        said(CELLS, "cost 1", "cost 1 / (value - 20)"),
        {},
        "SDC321",
        ["p.sdc", "area = n1, size = large"],
    ),
    "a cost below zero": (said(CELLS, "cost 1", "cost value - 20"), {}, "SDC321", ["area = n1, size = small"]),
    "an unknown status": (
        said(CELLS, "largest(1) m", "largest(1) m\n  status flag"),
        {
            "cells.csv": FILES["cells.csv"]
            .replace("\n", ",s\n")
            .replace("m,s", "m,flag")
            .replace("60,5,9,s", "60,5,9,q")
        },
        "SDC322",
        ["cells.csv:7", "column flag", "`q`"],
    ),
    "a requirement": (
        CELLS + 'require upl >= 2 * lpl because "rule 7"\n',
        {},
        "SDC324",
        ["p.sdc", "upl >= 2 * lpl", "rule 7", "area = n1, size = small"],
    ),
    "a requirement on levels alone": (
        said(CELLS, "upl max(needed, 1)", "upl 1") + 'require upl >= lpl because "rule 4"\n',
        {},
        "SDC324",
        ["upl >= lpl", "area = n1, size = small"],
    ),
    "a waiver for nobody": (MICRO + 'waive unit zz because "x"\n', {}, "SDC325", ["zz", "who"]),
    "no such cell": (CELLS + "fix at (area: n9, size: small)\n", {}, "SDC326", ["p.sdc", "n9"]),
    "a list with cells that do not exist": (
        CELLS + 'sensitive t from csv "list.csv"\n',
        {"list.csv": "area,size\nn1,small\nn1,tiny\n"},
        "SDC326",
        ["list.csv:3", "tiny"],
    ),
    "a sensitive cell that must be published": (
        CELLS + "publish where size = small\n",
        {},
        "SDC329",
        ["publish where size = small", "sensitive by threshold(3)", "area = n1, size = small"],
    ),
    "hidden and shown": (
        CELLS + "fix where size = large\nsuppress where area = s1\n",
        {},
        "SDC137",
        ["fix where size = large", "suppress where area = s1", "area = s1, size = large"],
    ),
    "a level of zero": (
        said(said(CELLS, "lpl needed", "lpl 0"), "upl max(needed, 1)", "upl 0 * value"),
        {},
        "SDC330",
        ["area = n1, size = small"],
    ),
    "a JJ file that does not add up": (
        'sdc 1\npolicy "jj"\ntable t {\n  jj "t.jj"\n}\nprotect t {\n  method csp\n}\n',
        {"t.jj": "0\n3\n0 9 1 s 0 20 0 0 0\n1 4 1 u 0 9 1 1 0\n2 4 1 s 0 9 0 0 0\n1\n0 3 : 0 (-1) 1 (1) 2 (1)\n"},
        "SDC301",
        ["t.jj"],
    ),
    "two tables that disagree": (
        said(
            said(CELLS, "sensitive by", "table u { from more; by area; value v; count n; measure same }\nsensitive by"),
            "  count n\n  largest(1) m\n",
            "  count n\n  measure same\n",
        ).replace("protect t {", "protect t, u {")
        + 'data more { csv "more.csv" }\n',
        {"more.csv": "area,v,n\nn1,30,9\nn2,71,9\ns1,110,9\n"},
        "SDC301",
        ["area = n2", "70", "71"],
    ),
}


@pytest.mark.parametrize("what", CASES)
def test_bad_data(what, tmp_path, monkeypatch):
    monkeypatch.setenv("SDCDSL_SHOW_VALUES", "1")  # what stays unsaid otherwise: tests/test_confidential.py
    policy, files, code, names = CASES[what]
    result = plan(tmp_path, policy, files)
    assert result.exit_code == 3, result.output
    assert f"error[{code}]" in result.output, result.output
    for name in names:
        assert name in result.output, (name, result.output)
    assert "protect t\n" not in result.output  # no plan of what cannot be protected


def test_a_file_named_on_the_command_line_may_be_missing_too(tmp_path):
    result = plan(tmp_path, CELLS, {}, "--data", f"cells={tmp_path / 'nowhere.csv'}")
    assert result.exit_code == 3
    assert "SDC302" in result.output and "nowhere.csv" in result.output


MANY = 25
NARROW = said(CELLS, '  hierarchy hrc "area.hrc"', "  codes " + ", ".join(f"c{i}" for i in range(MANY)))
NARROW = said(NARROW, "value v\n", "value v {\n    absent zero\n  }\n")  # nothing is said of large ones


def many(row: str) -> str:
    return "area,size,v,n,m\n" + "".join(row.format(i=i) + "\n" for i in range(MANY))


CROWDS = {
    "absent": (said(NARROW, "absent zero", "absent refused"), many("c{i},small,1,5,1"), "SDC309"),
    "too large": (NARROW, many("c{i},small,1,5,2"), "SDC323"),
    "unknown codes": (NARROW, many("d{i},small,1,5,1"), "SDC304"),
    "duplicates": (NARROW, many("c{i},small,1,5,1") + "".join(f"c{i},small,2,5,1\n" for i in range(MANY)), "SDC305"),
    "text": (NARROW, many("c{i},small,one,5,1"), "SDC306"),
    "not finite": (NARROW, many("c{i},small,inf,5,1"), "SDC307"),
    "no count": (NARROW, many("c{i},small,1,,1"), "SDC309"),
    "holes": (NARROW, many("c{i},small,,5,1"), "SDC309"),
    "totals": (NARROW, many("c{i},small,1,5,1") + "".join(f"c{i},all,2,5,1\n" for i in range(MANY)), "SDC301"),
    "bounds": (NARROW.replace("bounds 0 .. inf", "bounds 5 .. inf"), many("c{i},small,1,5,1"), "SDC319"),
    "levels": (NARROW.replace("lpl needed", "lpl 3"), many("c{i},small,1,2,1"), "SDC320"),
    "expressions": (NARROW.replace("cost 1", "cost 1 / (value - 1)"), many("c{i},small,1,5,1"), "SDC321"),
    "requirements": (NARROW + 'require lpl > 5 because "x"\n', many("c{i},small,1,2,1"), "SDC324"),
    "published": (NARROW + "publish where size = small\n", many("c{i},small,1,2,1"), "SDC329"),
    "zero levels": (NARROW.replace("upl max(needed, 1)", "upl needed"), many("c{i},small,0,2,0"), "SDC330"),
}


@pytest.mark.parametrize("what", CROWDS)
def test_ten_offenders_are_named_and_the_rest_counted(what, tmp_path):
    policy, cells, code = CROWDS[what]
    result = plan(tmp_path, policy, {"cells.csv": cells})
    assert result.exit_code == 3, result.output
    assert f"error[{code}]" in result.output, result.output
    first = result.output.split("error[")[1]
    named = (
        set(re.findall(r"\b[cd]\d+\b", first))
        if code not in ("SDC306", "SDC307")
        else set(re.findall(r"cells.csv:\d+", first))
    )
    assert len(named) <= 11, first  # the headline may name one more
    assert re.search(r"and [\d,]+ more", first), first


def test_many_bad_records_are_listed_like_that_too(tmp_path):
    records = "area,size,who,x,w\n" + "".join(f"z{i % 14},small,a,1,1\n" for i in range(200))
    result = plan(tmp_path, MICRO, {"records.csv": records})
    assert result.exit_code == 3
    assert len(re.findall(r"records.csv:\d+", result.output)) <= 10
    assert "14 codes on 200 records" in result.output


def test_a_code_is_shown_once_however_many_records_have_it(tmp_path):
    records = "area,size,who,x,w\n" + "".join(f"z{i % 2},small,a,1,1\n" for i in range(200))
    result = plan(tmp_path, MICRO, {"records.csv": records})
    assert re.findall(r"records.csv:(\d+)", result.output) == ["2", "3"]
    assert "2 codes on 200 records" in result.output


def test_codes_that_no_record_has_are_named(tmp_path):
    everywhere = plan(tmp_path, MICRO, FILES)
    assert everywhere.exit_code == 0 and "without records" not in everywhere.output
    fewer = "".join(row for row in FILES["records.csv"].splitlines(True) if not row.startswith("n2,"))
    result = plan(tmp_path, MICRO, {**FILES, "records.csv": fewer})
    assert result.exit_code == 0 and "without records: area n2\n" in result.output


def test_the_json_document_says_the_same(tmp_path):
    result = plan(tmp_path, CELLS, changed("cells.csv", "n2,small", "n3,small"), "--json")
    document = json.loads(result.output)
    assert (result.exit_code, document["exit"], document["blocks"]) == (3, 3, [])
    assert [d["code"] for d in document["diagnostics"]] == ["SDC304"]


def test_records_that_say_no_unit_are_counted(tmp_path):
    """Each is a contributor of its own, which may be more than there are: a warning, once for all tables."""
    two = MICRO + "\ntable again {\n  from cells\n  by size\n  sum x\n}\n"
    nameless = FILES["records.csv"].replace(",c,", ",,").replace(",d,", ",,")
    result = plan(tmp_path, two.replace("protect t {", "protect t, again {"), {"records.csv": nameless})
    assert result.exit_code == 0
    assert result.output.count("SDC335") == 1 and "2 records say no unit in column `who`" in result.output
    grouped = MICRO.replace('column unit = "who"', 'column unit = "who"\n  column group = "g"')
    named = "\n".join(f"{line},{g}" for line, g in zip(nameless.splitlines(), ("g", "", "", 1, 2, "", ""), strict=True))
    assert "SDC335" not in plan(tmp_path, grouped, {"records.csv": named + "\n"}).output  # the group says who
