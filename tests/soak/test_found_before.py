"""Cases in which soaking has found something, with what becomes of them now. Most have figures from 1 to 10¹⁰ in one
table, where the last digits of a large figure are more than a small level."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from click.testing import CliRunner

from sdcdsl.cli import cli
from tests.soak.checks import judge
from tests.soak.frozen import frozen

FOUND = {
    "2026-409": ("ip", "infeasible"),  # was failed: a class that has not the room its own level asks for
    "3101-329": ("ip", "released"),  # a repair that costs less than a solver's tolerance is none
    "3101-833": ("ip", "released"),  # a room of 3 beside moves of 10⁹
    "3101-1177": ("ip", "released"),  # intervals without end that cost nothing made the cost no number
    "3101-1703": ("chain", "released"),  # an end printed with eleven digits was nearer than its level of 0.2
    "3101-931": ("ecta Linf", "released"),  # weights from 1 to 10⁻²⁰ made HiGHS's quadratic solver end the process
    "31-893": ("perturb", "released"),  # whole numbers beyond 2³¹ kept HiGHS for ever
    "3101-1342": ("combined", "released"),  # 4.500000045 and 4.5 are a sliding level of 9, 4.5 and 4.499999955 are not
    "31-767": ("chain", "released"),  # repeated on a busy machine it came to another pattern, and now says why
    "31-570": ("cta L1L2 free", "released"),  # figures many times the true ones were said not to add up
    "31-2087": ("chain", "released"),  # moves a hair beyond an attacker's room, where there were others
    "3101-362": ("cta Linf down", "released"),  # whole numbers, and a level of 1831660445.6
    "3101-479": ("chain", "released"),
    "3101-602": ("cta L2 free", "released"),
    "3101-962": ("cta Linf up", "released"),
    "3101-1122": ("cta L2 down", "released"),
    "2027-106": ("cta L1L2 down", "released"),  # another solver's table added up to a few parts in 10⁹ only
    "2027-908": ("rounding", "released"),  # tables 2·10⁻⁸ beyond an end at 7·10⁸ proved nothing
    "2028-1357": ("perturb", "released"),  # 1.4·10⁻¹⁴ was printed for a figure that is nothing
    "2027-1577": ("ip", "released"),  # widths of 5.7 where 5 is the most, beside figures of 10¹⁰
}


@pytest.mark.long
@pytest.mark.parametrize("name", FOUND)
def test_found_before(name: str, tmp_path: Path):
    tale = judge(frozen(name), tmp_path)
    assert tale.findings == []
    engine, end = FOUND[name]
    assert tale.engine == engine
    assert tale.end in (end, "limit")  # four seconds pass quickly on a machine that has other things to do


def test_widths_within_their_cap_beside_large_figures(tmp_path: Path):
    """`cap_width 5 + 2 * value`, of empty cells in a table with figures of 10¹⁰."""
    case = frozen("2027-1577")
    policy = case.write(tmp_path)
    result = CliRunner().invoke(cli, ["protect", str(policy), "--out", str(tmp_path / "out"), "--no-report"])
    assert result.exit_code in (0, 5), result.output
    if result.exit_code == 5:
        pytest.skip("four seconds were too little on this machine")
    with (tmp_path / "cells.csv").open(encoding="utf-8") as file:
        true = {(row["area"], row["kind"]): float(row["turnover"]) for row in csv.DictReader(file)}
    with (tmp_path / "out" / "out.csv").open(encoding="utf-8") as file:
        shown = [row for row in csv.DictReader(file) if row["status"] == "interval"]
    assert shown
    for row in shown:
        value = true.get((row["area"], row["kind"]), 0.0)
        assert float(row["high"]) - float(row["low"]) <= (5 + 2 * value) * (1 + 1e-6)
