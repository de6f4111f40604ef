"""Replays of a method against running the program on every table that fits, one policy after another."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import sdcdsl
from sdcdsl.bind.file_locations import RecordedLocations
from sdcdsl.cli import cli
from sdcdsl.executing.timeouts import TimedOut
from sdcdsl.outcome import End
from sdcdsl.pipeline import method_replay
from sdcdsl.pipeline.method_replay import MethodReplayRequest, replay_methods

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


@pytest.mark.parametrize("method", ["csp", "ip"])
def test_without_time_there_is_nothing_to_replay(tmp_path: Path, method: str) -> None:
    path = tmp_path / "one.sdc"
    path.write_text(policy(0, method, "2"), encoding="utf-8")
    loaded = sdcdsl.load(path)
    request = MethodReplayRequest(loaded.policy, path, RecordedLocations(tmp_path), loaded.day, time_limit=0.0)
    made = replay_methods(request)
    assert made.end is End.LIMIT and not made.blocks
    assert "SDC512" in {one.code for one in made.found}


def test_the_time_may_be_over_between_two_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was tried by then is reported, and called cut."""
    path = tmp_path / "one.sdc"
    path.write_text(policy(0, "csp", "2"), encoding="utf-8")
    loaded = sdcdsl.load(path)
    runs: list[object] = []

    def fourth_hangs(_seconds: float, work: Callable[[], object]) -> object:
        runs.append(work)
        if len(runs) > 3:
            raise TimedOut
        return work()

    monkeypatch.setattr(method_replay, "run_with_timeout", fourth_hangs)
    request = MethodReplayRequest(loaded.policy, path, RecordedLocations(tmp_path), loaded.day, time_limit=1e6)
    [block] = replay_methods(request).blocks
    # The true table, two before the one that hangs, and those that no search was needed for.
    assert block.cut and len(runs) == 4 and block.tried == 3 + block.nothing


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
