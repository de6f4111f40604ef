"""Clocks remember whether they decided anything: what a lock says about replays."""

from __future__ import annotations

import numpy as np

from sdcdsl.methods.cta.senses.chosen import Sparing
from sdcdsl.methods.result import Clock
from sdcdsl.solve.master import Master


def test_a_part_that_is_over_has_told_the_whole():
    whole = Clock()
    assert not whole.over and not whole.struck
    assert Sparing(whole.part(0.0)).over
    assert whole.struck


def test_time_that_is_left_decides_nothing():
    whole = Clock(1e6)
    assert not Sparing(whole.part(1e5), 0.5).over
    assert not whole.struck


def split() -> Master:
    """A market split (Cornuéjols and Dawande): no solver is done with it before it looks at its clock."""
    draw = np.random.default_rng(4)
    A = draw.integers(0, 100, (5, 40)).astype(float)
    master = Master(np.ones(40), np.zeros(40), np.ones(40), np.ones(40, dtype=bool))
    master.add([(np.arange(40), row, float(row.sum() // 2)) for row in A], equal=True)
    return master


def test_a_solver_that_was_ended_by_a_clock_says_so():
    assert split().solve(over=lambda: True).timed
    easy = Master(np.ones(2), np.zeros(2), np.ones(2), np.ones(2, dtype=bool))
    assert not easy.solve(seconds=60.0).timed
