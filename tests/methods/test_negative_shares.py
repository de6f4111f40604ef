"""Percentages of negative values: a share of the size. A table turned upside down is protected for the same cost."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from sdcdsl.cli import cli
from tests.bind.policies import bind_text, cell, problem_of

POLICY = """sdc 1
policy "upside down"
seed 5
dimension r {
  codes R0, R1
  total RT
}
dimension c {
  codes C0, C1
  total CT
}
table t {
  by r, c
  values
    | r \\ c | C0 | C1 |
    | R0 | A | B |
    | R1 | C | D |
}
sensitive t at (r: R0, c: C0)
attacker e {
  bounds BOUNDS
}
protect t {
  DOWN 10% of value
  UP 5% of value
  against e
  cost 100% of value
  method METHOD
  release csv "released.csv"
}
"""
FIGURES = {"A": 40, "B": 30, "C": 50, "D": 60}
# As it is for positive values, and for the same table with all signs changed.
METHODS = {
    "csp": ("csp", "csp"),
    "ip": ("ip {\n    cap_width 150% of value\n    min_width 10% of value\n  }",) * 2,
    "cta": ("cta {\n    range -60% .. 30%\n  }", "cta {\n    range -30% .. 60%\n  }"),
    "cta L2": ("cta {\n    norm L2\n    range -15% .. 5%\n  }", "cta {\n    norm L2\n    range -5% .. 15%\n  }"),
    "perturb": ("perturb {\n    range -30% .. 20%\n  }", "perturb {\n    range -20% .. 30%\n  }"),
    "rounding": ("rounding {\n    base 12\n  }",) * 2,
    "combined": (
        "combined {\n    suppress where r = R0 and c under CT\n    interval where r = RT\n"
        "    perturb 40% of value where r = R1\n    perturb 30% of value where r = R0 and c = CT\n"
        "    cap_width 200% of value\n  }",
    )
    * 2,
}


def text(sign: int, method: str, bounds: str = "20% of value .. 180% of value") -> str:
    said = POLICY.replace("METHOD", method).replace("BOUNDS", bounds)
    for letter, figure in FIGURES.items():
        said = said.replace(f"| {letter} |", f"| {sign * figure} |", 1)
    down, up = ("lpl", "upl") if sign > 0 else ("upl", "lpl")
    return said.replace("DOWN", down).replace("UP ", f"{up} ")


def protect(folder: Path, policy: str) -> dict[str, Any]:
    (folder / "p.sdc").write_text(policy, encoding="utf-8")
    return json.loads(CliRunner().invoke(cli, ["protect", str(folder / "p.sdc"), "--json"]).stdout)


def released(folder: Path) -> dict[tuple[str, str], dict[str, str]]:
    with (folder / "released.csv").open(encoding="utf-8") as file:
        return {(row["r"], row["c"]): row for row in csv.DictReader(file)}


@pytest.mark.parametrize("method", METHODS)
def test_signs_do_not_change_what_protection_costs(tmp_path: Path, method: str):
    made = [protect(tmp_path, text(sign, said)) for sign, said in zip((1, -1), METHODS[method], strict=True)]
    assert [one["exit"] for one in made] == [0, 0], [one["diagnostics"] for one in made]
    costs = [one["blocks"][0]["objective"] for one in made]
    assert costs[1] == pytest.approx(costs[0], rel=1e-6)
    assert costs[0] > 0


def test_a_range_in_percent_is_a_range_of_the_size(tmp_path: Path):
    assert protect(tmp_path, text(-1, "cta {\n    range -10% .. 25%\n  }"))["exit"] == 0
    for (r, c), row in released(tmp_path).items():
        value = -sum(
            v
            for v, (i, j) in zip(
                FIGURES.values(), (("R0", "C0"), ("R0", "C1"), ("R1", "C0"), ("R1", "C1")), strict=True
            )
            if r in (i, "RT") and c in (j, "CT")
        )
        assert 0.1 * value - 1e-9 <= float(row["value"]) - value <= -0.25 * value + 1e-9


def test_the_widths_of_enhanced_adjustment_are_shares_of_the_size(tmp_path: Path):
    assert protect(tmp_path, text(-1, "ecta {\n    alpha 40%\n    tries 20\n  }"))["exit"] == 0
    row = released(tmp_path)["R0", "C0"]
    low, value, high = float(row["low"]), float(row["value"]), float(row["high"])
    assert low <= -44 and high >= -38  # lpl 5% and upl 10% of the size, turned round: 2 below, 4 above
    assert low == pytest.approx(value / 0.6) or low <= value <= high


def test_levels_and_bounds_of_a_negative_value():
    problem = problem_of(text(-1, "csp"))
    at, d = cell(problem, r="R0", c="C0"), problem.dataset
    assert (d["upl"].values.tolist(), d["lpl"].values.tolist()) == ([4.0], [2.0])
    assert (d["low"].values[0, at], d["high"].values[0, at]) == (-72, -8)
    assert d["w"].values[at] == 40


@pytest.mark.parametrize(
    ("bounds", "expected"),
    [
        ("50% of value .. 150% of value", (-60, -20)),
        ("0 .. 200% of value", (-80, 0)),
        ("-200% of value .. 200% of value", (-80, 80)),
        ("value - 50% of value .. value + 25% of value", (-60, -30)),
        ("0.5 * value .. 1.5 * value", (-60, -20)),
    ],
)
def test_ends_of_bounds_are_put_in_order(bounds: str, expected: tuple[float, float]):
    problem = problem_of(text(-1, "csp", bounds))
    at, d = cell(problem, r="R0", c="C0"), problem.dataset
    assert (d["low"].values[0, at], d["high"].values[0, at]) == pytest.approx(expected)


def test_bounds_that_are_upside_down_for_a_positive_value_stay_a_mistake():
    _, found = bind_text(text(1, "csp", "200 - value .. value"))
    assert "SDC319" in {f.code for f in found}


def test_a_requirement_in_percent_binds_negative_values():
    """lpl 2 of 40 is less than a tenth, whatever the sign."""
    said = 'require upl >= 10% of value and lpl >= 10% of value because "the house rule"\n'
    for sign in (1, -1):
        _, found = bind_text(
            text(sign, "csp").replace("pl 10% of value", "pl 4").replace("pl 5% of value", "pl 2") + said
        )
        assert [f.code for f in found] == ["SDC324"]


def test_who_contributes_much_of_a_negative_cell_is_an_attacker(tmp_path: Path):
    rows = "unit,r,c,v\nA,R0,C0,-30\nB,R0,C0,-9\nC,R0,C0,-1\nD,R1,C1,60\nE,R1,C1,50\nF,R0,C1,40\nG,R1,C0,20\n"
    (tmp_path / "d.csv").write_text(rows, encoding="utf-8")
    head = POLICY.split("table t", maxsplit=1)[0].replace("seed 5\n", 'data d { csv "d.csv"; column unit = "unit" }\n')
    said = head + "table t { from d; by r, c; sum v }\nsensitive t at (r: R0, c: C0)\nattacker e {\n"
    said += "  each unit where contribution >= 50% of value and r = R0 and c = C0\n"
    said += "  bounds -inf .. inf\n}\nprotect t { lpl 1; against e; method csp }\n"
    assert problem_of(said, tmp_path).attackers == ("e A",)
    assert np.isinf(problem_of(said, tmp_path).dataset["high"].values).all()
