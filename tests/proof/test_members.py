"""Whom a table leaves out: many at once as one by one."""

from __future__ import annotations

import numpy as np
import pytest

from sdcdsl.proof import members
from sdcdsl.proof.members import Known, MemberKnowledge

CELLS, ATTACKERS = 12, 9


def knowledge(seed: int, false: bool = False) -> MemberKnowledge:
    rng = np.random.default_rng(seed)
    a = rng.integers(5, 60, CELLS).astype(float)
    cell = rng.integers(0, CELLS, 40)
    low = np.floor(a[cell] * rng.random(40))
    high = np.where(rng.random(40) < 0.5, np.inf, a[cell] + rng.integers(0, 20, 40))
    if false:
        low[3] = a[cell[3]] + 1
    known = Known(rng.integers(0, ATTACKERS, 40), cell, low, high)
    return MemberKnowledge(known, a, rng.integers(-1, 2, ATTACKERS))


@pytest.mark.parametrize("at_once", [7, 10**6])
@pytest.mark.parametrize("seed", range(5))
def test_many_tables_leave_out_whom_each_of_them_does(seed: int, at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(members, "AT_ONCE", at_once)
    known, rng = knowledge(seed, false=seed == 4), np.random.default_rng(seed)
    far = [np.rint(rng.normal(0, 12, CELLS)) * (rng.random(CELLS) < 0.5) for _ in range(20)]
    number = rng.integers(0, 2, 20)
    table = np.repeat(np.arange(20), CELLS)
    owner, who = known.left_out_of_each(number, table, np.tile(np.arange(CELLS), 20), np.concatenate(far))
    assert np.array_equal(np.lexsort((who, owner)), np.arange(len(owner)))
    some = 0
    for k in range(20):
        one = known.left_out(int(number[k]), np.arange(CELLS), far[k], 1.0, 0.0)
        assert who[owner == k].tolist() == one.tolist()
        some += len(one)
    assert some


def test_no_table_leaves_nobody_out() -> None:
    nothing = np.zeros(0, dtype=np.int64)
    owner, who = knowledge(1).left_out_of_each(nothing, nothing, nothing, np.zeros(0))
    assert not len(owner) and not len(who)
