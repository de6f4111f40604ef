"""Replays of a method against running the program on every table that fits, one policy after another."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import sdcdsl
from sdcdsl.cli import cli

# Four inner cells a square of which is hidden: the tables that fit have one number t to choose.
POLICY = """sdc 1

dimension side {{
  codes I, II
  total Both
}}

dimension half {{
  codes A, B
  total Year
}}

table sales {{
  by side, half
  values
    | side \\ half |   A |   B | Year |
    | I           | {ia} | {ib} |   40 |
    | II          | {iia} | {iib} |   30 |
    | Both        |  36 |  34 |   70 |
}}

sensitive sales where value < 10

attacker external {{
  bounds 0 .. 100
}}

protect sales {{
  lpl {lpl}
  upl {lpl}
  against external
  cost value
  method {method}
  release csv "sales.csv"
}}
"""


def policy(t: int, method: str, lpl: str) -> str:
    """II·A is 6 + t: sensitive below 10, as II·B then is not."""
    return POLICY.format(ia=30 - t, ib=10 + t, iia=6 + t, iib=24 - t, method=method, lpl=lpl)


def released(path: Path, t: int, method: str, lpl: str) -> list[tuple[object, ...]] | None:
    path.write_text(policy(t, method, lpl), encoding="utf-8")
    try:
        made = sdcdsl.load(path).protect()["sales"]
    except sdcdsl.Refused:
        return None
    return made.pattern.table().rows()


@pytest.mark.long
@pytest.mark.parametrize(("method", "lpl"), [("csp", "2"), ("csp", "20% of value"), ("ip", "20% of value")])
def test_it_keeps_what_the_program_itself_would_release(tmp_path: Path, method: str, lpl: str) -> None:
    path = tmp_path / "one.sdc"
    truth = released(path, 0, method, lpl)
    assert truth is not None
    path.write_text(policy(0, method, lpl), encoding="utf-8")
    shown = CliRunner().invoke(cli, ["assess", str(path), "--replay", "--tables", "100", "--json"])
    assert shown.exit_code == 0, shown.output
    [block] = json.loads(shown.stdout)["blocks"]
    assert block["every_table"]
    [cell] = [one for one in block["cells"] if "II" in one["cell"]]
    tried = range(int(cell["tried"][0]) - 6, int(cell["tried"][1]) - 5)
    same = [6 + t for t in tried if released(tmp_path / "other.sdc", t, method, lpl) == truth]
    assert block["tables_tried"] == len(tried) and block["tables_same"] == len(same)
    assert cell["remaining"] == [min(same), max(same)]


def test_sensitivity_by_value_is_knowledge(tmp_path: Path) -> None:
    """Nobody is told which of the hidden cells is sensitive; the policy says that it is below 10, and the levels."""
    path = tmp_path / "one.sdc"
    path.write_text(policy(0, "csp", "2"), encoding="utf-8")
    shown = CliRunner().invoke(cli, ["assess", str(path), "--replay", "--json"])
    assert shown.exit_code == 0, shown.output
    document = json.loads(shown.stdout)
    [block] = document["blocks"]
    assert document["verdict"] == "narrowed"
    # t from -6 to 24 fits. From 4 to 14 no cell is below 10, and nothing would be hidden.
    assert (block["every_table"], block["tables_tried"]) == (True, 31)
    [cell] = block["cells"]
    assert cell["tried"] == [0, 30] and cell["remaining"][0] <= 6 <= cell["remaining"][1]
    assert block["tables_same"] <= 31 - 11


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--replay", "--plot", "a.svg"], "--plot is of experiments"),
        (["--replay", "--norm", "L1"], "--norm"),
        (["--tables", "5"], "--tables is of --replay"),
    ],
)
def test_options_that_would_not_be_used_are_refused(tmp_path: Path, arguments: list[str], said: str) -> None:
    path = tmp_path / "one.sdc"
    path.write_text(policy(0, "csp", "2"), encoding="utf-8")
    shown = CliRunner().invoke(cli, ["assess", str(path), *arguments])
    assert shown.exit_code == 2 and said in shown.stderr


def test_an_adjusted_table_has_no_tables_that_fit(tmp_path: Path) -> None:
    path = tmp_path / "one.sdc"
    path.write_text(policy(0, "cta", "2"), encoding="utf-8")
    shown = CliRunner().invoke(cli, ["assess", str(path), "--replay"])
    assert shown.exit_code == 1 and "SDC139" in shown.output and "without --replay" in shown.output


def test_the_estimate_of_a_sample_is_wilsons() -> None:
    """Against the formula as solved from |p - p0| = z √(p0 (1 - p0) / n)."""
    from sdcdsl.pipeline.method_replay import BlockReplay  # noqa: PLC0415

    class Problem:
        pass

    made = BlockReplay(Problem(), "csp", "x", False, 101, 31, 0, False, False, (), np.zeros((0, 0)))  # pyright: ignore
    p, low, high = made.share
    assert p == 0.3
    for end in (low, high):
        assert abs(p - end) == pytest.approx(1.96 * np.sqrt(end * (1 - end) / 100), rel=1e-9)
