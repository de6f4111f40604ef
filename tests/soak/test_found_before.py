"""Cases in which soaking has found something, with what becomes of them now. Most have figures from 1 to 10¹⁰ in one
table, where the last digits of a large figure are more than a small level."""

from __future__ import annotations

from pathlib import Path

import pytest

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
}


@pytest.mark.parametrize("name", FOUND)
def test_found_before(name: str, tmp_path: Path):
    tale = judge(frozen(name), tmp_path)
    assert tale.findings == []
    engine, end = FOUND[name]
    assert tale.engine == engine
    assert tale.end in (end, "limit")  # four seconds pass quickly on a machine that has other things to do
