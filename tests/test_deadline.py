"""Clocks remember whether they decided anything: what a lock says about replays."""

from __future__ import annotations

import numpy as np

from sdcdsl.accelerate.cta.senses.sense_choice import ReservedShare
from sdcdsl.deadline import Deadline
from sdcdsl.numerics.master import Master


def test_a_part_that_is_over_has_told_the_whole():
    whole = Deadline()
    assert not whole.expired and not whole.time_dependent
    assert ReservedShare(whole.within(0.0)).expired
    assert whole.time_dependent


def test_time_that_is_left_decides_nothing():
    whole = Deadline(1e6)
    assert not ReservedShare(whole.within(1e5), 0.5).expired
    assert not whole.time_dependent


class Hands(Deadline):
    """A clock that stands until its hands are moved."""

    at = 0.0

    @property
    def elapsed(self) -> float:
        return self.at


def test_work_that_has_found_nothing_goes_on_as_long_as_the_whole():
    whole = Hands(10.0)
    part = whole.until_found(4.0)
    assert part.remaining == 4.0
    whole.at = 6.0
    assert part.remaining == 4.0 and part.within(1.0).remaining == 1.0
    part.shorten(1.0, 2.0)
    assert part.expired
    whole.at = 11.0
    assert whole.until_found(4.0).expired


def test_work_that_has_found_something_ends_soon_after():
    whole = Hands(100.0)
    early, late = whole.until_found(50.0), whole.until_found(50.0)
    whole.at = 1.0
    early.shorten(10.0, 2.0)
    assert early.remaining == 9.0
    whole.at = 20.0
    late.shorten(10.0, 2.0)
    assert early.expired and late.remaining == 20.0
    late.stop = True
    assert late.expired


def test_work_that_has_found_what_counts_goes_on_as_long_as_the_whole():
    whole = Hands(100.0)
    part = whole.until_found(50.0)
    whole.at = 20.0
    part.go_on()
    assert part.remaining == 80.0
    whole.at = 101.0
    assert part.expired


def split() -> Master:
    """A market split (Cornuéjols and Dawande): no solver is done with it before it looks at its deadline."""
    draw = np.random.default_rng(4)
    A = draw.integers(0, 100, (5, 40)).astype(float)
    master = Master(np.ones(40), np.zeros(40), np.ones(40), np.ones(40, dtype=bool))
    master.add([(np.arange(40), row, float(row.sum() // 2)) for row in A], equal=True)
    return master


def test_a_solver_that_was_ended_by_a_clock_says_so():
    assert split().solve(over=lambda: True).timed
    easy = Master(np.ones(2), np.zeros(2), np.ones(2), np.ones(2, dtype=bool))
    assert not easy.solve(seconds=60.0).timed
