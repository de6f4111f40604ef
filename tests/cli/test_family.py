"""Rounding, perturbation and mixtures from a policy: protect, compile and audit, fallbacks, what is wrong with one."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from click.testing import CliRunner, Result

from sdcdsl.cli import cli
from tests.conftest import ROOT

FIGURE_1 = (ROOT / "specs" / "known" / "three-by-three-5-8-ip.sdc").read_text(encoding="utf-8")
ENGINES = {
    "rounding": "rounding {\n    base 10\n  }",
    "rounding by expression": "rounding {\n    base 5\n    base 10 where activity = Total or region = Total\n  }",
    "perturb": "perturb {\n    range -8 .. 8\n    end high where value < 30\n    cap_changed 6\n  }",
    "combined": (
        "combined {\n    interval where activity = II\n    suppress where activity = I\n"
        "    perturb 6 where activity = III\n"
        "    round 5 where activity = Total\n    cap_hidden 1\n    min_width 13\n  }"
    ),
}
WIDER = "  conditional spl 9 where activity = III\n"


def policy(folder: Path, engine: str, **changes: str) -> Path:
    text = FIGURE_1.replace("method ip", f'method {engine}\n  release csv "out.csv"')
    for old, new in changes.items():
        text = text.replace(old.replace("_", " "), new)
    path = folder / "policy.sdc"
    path.write_text(text, encoding="utf-8")
    return path


def run(*arguments: object) -> Result:
    return CliRunner().invoke(cli, [*map(str, arguments)], prog_name="sdcdsl")


def block(path: Path) -> dict[str, Any]:
    [only] = json.loads(run("protect", path, "--json").stdout)["blocks"]
    return only


@pytest.mark.parametrize("name", ENGINES)
def test_protect_and_audit_of_the_released_file(name: str, tmp_path: Path):
    path = policy(tmp_path, ENGINES[name])
    said = block(path)
    assert (said["method"], said["status"], said["verdict"]) == (name.split(maxsplit=1)[0], "optimal", "protected")
    audited = json.loads(run("audit", path, "--released", tmp_path / "out.csv", "--output", "json").stdout)
    assert audited["verdict"] == "protected"
    table = pl.read_csv(tmp_path / "out.csv", null_values=["", "inf", "-inf"])
    if name.startswith("rounding"):
        total = (pl.col("activity") == "Total") | (pl.col("region") == "Total")
        assert table.filter(total)["value"].to_numpy().astype(int).tolist() == [
            10 * round(v / 10) for v in table.filter(total)["value"]
        ]
    if name == "perturb":
        own = table.filter((pl.col("activity") == "II") & (pl.col("region") == "C"))
        assert own["value"].to_list() == [30]


@pytest.mark.parametrize("name", ["rounding", "perturb", "combined"])
def test_compile_solve_and_read_back(name: str, tmp_path: Path):
    """The model as a file, solved by another reader of LP files, and its solution audited."""
    import highspy  # noqa: PLC0415

    path = policy(tmp_path, ENGINES[name])
    model, solution = tmp_path / "model.lp", tmp_path / "model.sol"
    made = run("compile", path, "-o", model)
    assert made.exit_code == 0, made.output
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.readModel(str(model))
    solver.run()
    solver.writeSolution(str(solution), 0)
    read = run("compile", path, "--solution", solution)
    assert read.exit_code == 0, read.output
    assert "protected" in read.output.casefold()
    [line] = json.loads(run("compile", path, "--solution", solution, "--json").stdout)["blocks"]
    assert line["objective"] == pytest.approx(block(path)["objective"])


DEAR = (
    "cost 1\n  cost 9 where activity = Total or region = Total or (activity = I and region = C)"
    " or (activity = II and region = B) or (activity = III and region = A)\n  cost fixed 3"
)


@pytest.mark.parametrize(("cap", "cost", "cells"), [(None, 66, 6), (6, 66, 6), (5, 108, 4), (4, 108, 4)])
def test_a_cap_on_changes_that_binds(cap: int | None, cost: float, cells: int, tmp_path: Path):
    """The sensitive cell moves by 8. Past all dear cells a ring of six does: 6 · 8 and 6 times the fixed 3. With five
    it takes a rectangle, each of which has a dear corner at least: 3 · 8 + 9 · 8 and four times the 3."""
    import highspy  # noqa: PLC0415

    word = "" if cap is None else f"    cap_changed {cap}\n"
    costs = {"external\n__cost value": f"external\n  {DEAR}"}
    path = policy(tmp_path, f"perturb {{\n    range -8 .. 8\n{word}  }}", **costs)
    said = block(path)
    assert (said["status"], said["verdict"], said["objective"]) == ("optimal", "protected", pytest.approx(cost))
    released = pl.read_csv(tmp_path / "out.csv")
    true = {
        (row, column): value
        for row, values in {"I": [20, 50, 10, 80], "II": [8, 19, 22, 49], "III": [17, 32, 12, 61]}.items()
        for column, value in zip(["A", "B", "C", "Total"], values, strict=True)
    } | {("Total", "A"): 45, ("Total", "B"): 101, ("Total", "C"): 44, ("Total", "Total"): 190}
    rows = released.select("activity", "region", "value").iter_rows()
    assert sum(true[row, column] != value for row, column, value in rows) == cells
    assert run("compile", path, "-o", tmp_path / "model.lp").exit_code == 0
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.readModel(str(tmp_path / "model.lp"))
    solver.run()
    assert solver.getObjectiveValue() == pytest.approx(cost)


@pytest.mark.parametrize("second", ["ip", "csp", "cta", *(ENGINES[n] for n in ("perturb", "combined"))])
def test_chains_go_on_to_the_next_method(second: str, tmp_path: Path):
    """22 to base 1 lies within 26 at most, four bases away and known to ± 4: not far enough for a level of 8."""
    said = block(policy(tmp_path, "rounding {\n    base 0.5\n  } else " + second))
    assert said["method"] == second.split(maxsplit=1)[0]
    assert said["verdict"] in ("protected", "nothing to check", "safe by distance") or second == "cta"
    assert (tmp_path / "out.csv").is_file()


def test_chains_across_the_family(tmp_path: Path):
    first, second = "perturb {\n    range -1 .. 1\n  }", "combined {\n    interval where activity = II\n  }"
    chain = f"{first} else {second} else {ENGINES['rounding']}"
    said = block(policy(tmp_path, chain))
    assert said["method"] == "rounding"
    [locked] = tomllib.loads((tmp_path / "policy.sdc.lock").read_text(encoding="utf-8"))["blocks"]
    assert locked["method"] == "rounding"
    assert locked["tried"] == ["perturb: infeasible", "combined: infeasible"]


@pytest.mark.parametrize("name", ["rounding", "perturb", "combined"])
def test_conditional_levels(name: str, tmp_path: Path):
    """What is published of III is uncertain by 9 at least wherever it is not the value itself, and that costs more."""
    path = policy(tmp_path, ENGINES[name])
    before = block(path)["objective"]
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("  against external\n", WIDER + "  against external\n"), encoding="utf-8")
    said = block(path)
    assert (said["status"], said["verdict"]) == ("optimal", "protected")
    assert said["objective"] >= before - 1e-9
    audited = json.loads(run("audit", path, "--released", tmp_path / "out.csv", "--output", "json").stdout)
    assert audited["verdict"] == "protected"
    others = [pair for pair in audited["pairs"] if "activity = III" in pair["cell"]]
    assert others
    assert all(pair["high"] - pair["low"] >= 9 * (1 - 1e-9) for pair in others)


def test_a_conditional_level_that_a_rounded_cell_cannot_have(tmp_path: Path):
    path = policy(tmp_path, ENGINES["rounding"])
    text = path.read_text(encoding="utf-8")
    more = WIDER.replace("9", "90")
    path.write_text(text.replace("  against external\n", more + "  against external\n"), encoding="utf-8")
    result = run("protect", path)
    assert result.exit_code != 0
    for word in ("SDC510", "activity = III", "conditional spl 90", "base 10"):
        assert word in result.output


BAD = {
    "parts that overlap": (
        "combined {\n    interval where activity = II\n    round 5 where region = C\n  }",
        ["SDC334", "activity = II, region = C", "round 5 where region = C", "interval where activity = II"],
    ),
    "a sensitive cell in no part": (
        "combined {\n    interval where activity = I\n  }",
        ["SDC334", "activity = II, region = C"],
    ),
    "a base too small for the level": (
        "rounding {\n    base 1\n  }",
        ["SDC510", "activity = II, region = C", "base 1", "upl 8", "4 bases away"],
    ),
    "a range too small for the level": (
        "perturb {\n    range -3 .. 3\n  }",
        ["SDC510", "activity = II, region = C", "range -3 .. 3", "lpl 5"],
    ),
    "a cap on changes that allows too little": (
        "perturb {\n    range -8 .. 8\n    cap_changed 3\n  }",
        ["SDC510", "range -8 .. 8", "cap_changed 3"],
    ),
    "a cap that allows too little": (
        "combined {\n    interval where value >= 0\n    cap_intervals 3\n  }",
        ["SDC510", "cap_intervals 3"],
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_what_cannot_be(name: str, tmp_path: Path):
    engine, words = BAD[name]
    result = run("protect", policy(tmp_path, engine))
    assert result.exit_code != 0
    for word in words:
        assert word in result.output
    assert not (tmp_path / "out.csv").exists()


def test_a_base_that_a_published_cell_does_not_fit(tmp_path: Path):
    path = policy(
        tmp_path, ENGINES["rounding"], attacker_external="publish at (activity: Total, region: B)\n\nattacker external"
    )
    result = run("protect", path)
    assert (
        "activity = Total, region = B: published as they are, and no multiples of 10 add up with them" in result.output
    )
