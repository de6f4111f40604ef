"""An attacker who knows how many contribute to each cell: protect, audit and explain agree, whatever the method."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from scipy.optimize import linprog

from sdcdsl.cli import cli

# Nobody contributes to R0·C1: who knows that reads R0·C0 off its row total.
RECORDS = """unit,r,c,v
A,R0,C0,12
B,R0,C0,8
C,R1,C0,100
D,R1,C0,200
E,R1,C0,200
F,R1,C1,300
G,R1,C1,200
H,R1,C1,100
"""
VALUES = {("R0", "C0"): 20, ("R0", "C1"): 0, ("R1", "C0"): 500, ("R1", "C1"): 600}
POLICY = """sdc 1
policy "an empty cell"
seed 7
data d {
  csv "d.csv"
  column unit = "unit"
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
  sum v
}
sensitive t at (r: R0, c: C0)
attacker e {
  bounds 0 .. inf
  KNOWS
}
protect t {
  lpl 4
  against e
  cost 1
  cost 1000 where r = RT or c = CT
  method METHOD
  release csv "released.csv"
}
"""
METHODS = {
    "csp": "csp",
    "csp by scip": "csp {\n    backend scip\n  }",
    "ip": "ip",
    "rounding": "rounding {\n    base 50\n    steps 2\n  }",
    "perturb": "perturb {\n    range -20 .. 20\n  }",
    "ecta": "ecta {\n    alpha 60%\n    tries 20\n  }",
    "combined": "combined {\n    suppress where r = R0\n    interval where r = R1\n  }",
}
PUBLISHED_OPENLY = """r,c,value,low,high,status
RT,CT,1120,,,published
RT,C0,520,,,published
RT,C1,600,,,published
R0,CT,20,,,published
R0,C0,,,,hidden
R0,C1,,,,hidden
R1,CT,1100,,,published
R1,C0,,,,hidden
R1,C1,,,,hidden
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "d.csv").write_text(RECORDS, encoding="utf-8")
    return tmp_path


def run(folder: Path, command: str, knows: str, method: str = "csp", *more: str, text: str = POLICY) -> dict[str, Any]:
    path = folder / "p.sdc"
    path.write_text(text.replace("KNOWS", knows).replace("METHOD", method), encoding="utf-8")
    wanted = ["--output", "json"] if command == "audit" else ["--json"]
    result = CliRunner().invoke(cli, [command, str(path), *wanted, *more])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exc_info
    return json.loads(result.stdout)


def released(folder: Path) -> dict[tuple[str, str], dict[str, str]]:
    with (folder / "released.csv").open(encoding="utf-8") as file:
        return {(row["r"], row["c"]): row for row in csv.DictReader(file)}


def lowest(rows: dict[tuple[str, str], dict[str, str]], counts: bool) -> float:
    """The least value of R0·C0 among the tables that fit the release: a linear program over the four inner cells."""
    inner, A, low, high = list(VALUES), [], [], []
    for (r, c), row in rows.items():
        A.append([float((r in ("RT", i)) and (c in ("CT", j))) for i, j in inner])
        ends = [row["value"], row["value"]] if row["status"] == "published" else [row["low"], row["high"]]
        low.append(float(ends[0] or 0.0))
        high.append(float(ends[1] or "inf"))
    if counts:
        A.append([0.0, 1.0, 0.0, 0.0])
        low.append(0.0)
        high.append(0.0)
    at_most = np.isfinite(high)
    matrix = np.concatenate([np.array(A)[at_most], -np.array(A)])
    ends_ = np.concatenate([np.array(high)[at_most], -np.array(low)])
    found = linprog([1, 0, 0, 0], A_ub=matrix, b_ub=ends_, bounds=(0, None))
    assert found.status == 0, found.message
    return float(found.fun)


def test_the_linear_program_of_this_file(folder: Path):
    (folder / "released.csv").write_text(PUBLISHED_OPENLY, encoding="utf-8")
    assert lowest(released(folder), counts=False) == pytest.approx(0)
    assert lowest(released(folder), counts=True) == pytest.approx(20)


@pytest.mark.parametrize("method", METHODS)
def test_what_every_method_releases_leaves_the_level_to_who_knows_counts(folder: Path, method: str):
    made = run(folder, "protect", "knows counts", METHODS[method])
    assert made["exit"] == 0, made["diagnostics"]
    assert lowest(released(folder), counts=True) <= 16 + 1e-6


def test_suppression_pays_for_the_counts(folder: Path):
    """By hand: with R0·C1 known the row total must go, and with it another row total and a cell of each column."""
    ignorant, knowing = (run(folder, "protect", knows) for knows in ("", "knows counts"))
    assert (ignorant["blocks"][0]["objective"], knowing["blocks"][0]["objective"]) == (4, 2002)


def test_adjustment_leaves_the_empty_cell_empty(folder: Path):
    made = run(folder, "protect", "knows counts", "cta {\n    sense down\n  }")
    assert made["exit"] == 0
    assert float(released(folder)["R0", "C1"]["value"]) == 0
    assert float(released(folder)["R0", "C0"]["value"]) <= 16 + 1e-6


@pytest.mark.parametrize(
    ("knows", "verdict"), [("", "protected"), ("knows counts", "exposed"), ("knows zeros", "exposed")]
)
def test_the_audit_and_the_explanation_know_the_counts(folder: Path, knows: str, verdict: str):
    (folder / "open.csv").write_text(PUBLISHED_OPENLY, encoding="utf-8")
    given = ("--released", str(folder / "open.csv"))
    (block,) = run(folder, "audit", knows, "csp", *given)["blocks"]
    assert block["verdict"] == verdict
    (cell,) = run(folder, "explain", knows, "csp", "--cell", "r: R0, c: C0", *given)["cells"]
    (attacker,) = cell["attackers"]
    assert (attacker["low"], attacker["high"]) == ((0, 20) if not knows else (20, 20))
    assert cell["known_before"] == []
    (empty,) = run(folder, "explain", knows, "csp", "--cell", "r: R0, c: C1", *given)["cells"]
    assert [k["attacker"] for k in empty["known_before"]] == (["e"] if knows else [])
    if knows == "knows counts":
        assert empty["known_before"][0]["why"] == "nobody contributes to it, so it is zero"
        assert empty["known_before"][0]["statement"] == "knows counts"


def test_infeasible_because_of_the_counts_names_them(folder: Path):
    """The row total is fixed: then who knows that R0·C1 is empty knows R0·C0, and nothing can be done."""
    text = POLICY + "fix t at (r: R0, c: CT)\n"
    assert run(folder, "protect", "", text=text)["exit"] == 0
    made = run(folder, "protect", "knows counts", text=text)
    assert made["exit"] == 4
    (found,) = made["diagnostics"]
    assert found["code"] == "SDC510"
    assert any("R0" in note and "against e" in note for note in found["notes"])
    labels = {mark["label"] for mark in found["marks"]}
    assert labels == {"requires too much", "wants 1 cell published", "gives away 1 cell beforehand"}


ALONE = POLICY.replace(
    "  bounds 0 .. inf\n  KNOWS\n", "  each unit\n  knows own contribution\n  KNOWS\n  bounds 0 .. inf\n"
)


def test_who_is_alone_in_a_cell_subtracts_it(folder: Path):
    """A alone gives R0·C0 = 12. Who knows that it is alone takes 12 off the row total and has R0·C1 exactly."""
    (folder / "d.csv").write_text(RECORDS.replace("B,R0,C0,8", "B,R0,C1,8\nK,R0,C1,9\nL,R0,C1,5"), encoding="utf-8")
    text = ALONE.replace("sensitive t at (r: R0, c: C0)", "sensitive t at (r: R0, c: C1)").replace("lpl 4", "upl 4")
    openly = PUBLISHED_OPENLY.replace("RT,C0,520", "RT,C0,512").replace("RT,C1,600", "RT,C1,622")
    openly = openly.replace("R0,CT,20", "R0,CT,34").replace("RT,CT,1120", "RT,CT,1134")
    (folder / "open.csv").write_text(openly, encoding="utf-8")
    given = ("--cell", "r: R0, c: C1", "--released", str(folder / "open.csv"))
    for knows, high in (("", 22), ("knows counts", 22)):
        (cell,) = run(folder, "explain", knows, "csp", *given, text=text)["cells"]
        mine = {one["attacker"]: one for one in cell["attackers"]}["e A"]
        assert mine["high"] == high  # its own 12 are the least that R0·C0 holds, counts or not
    down = text.replace("upl 4", "lpl 4")
    for knows, low in (("", 0), ("knows counts", 22)):
        (cell,) = run(folder, "explain", knows, "csp", *given, text=down)["cells"]
        mine = {one["attacker"]: one for one in cell["attackers"]}["e A"]
        assert mine["low"] == low
    (own,) = run(folder, "explain", "knows counts", "csp", "--cell", "r: R0, c: C0", *given[2:], text=down)["cells"]
    assert [(k["attacker"], k["why"]) for k in own["known_before"]] == [
        ("e A", "it is the only contributor, and knows that")
    ]
    made = run(folder, "protect", "knows counts", text=down)
    assert made["exit"] == 0
    assert made["blocks"][0]["objective"] > run(folder, "protect", "", text=down)["blocks"][0]["objective"]
