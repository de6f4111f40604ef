"""Whole numbers beyond 2³¹: HiGHS does not come back from them, so that these tests would not end either."""

from __future__ import annotations

import linopy
import numpy as np
import pytest

from sdcdsl.numerics.integrality import COUNTED, uncounted
from sdcdsl.numerics.master import Master
from sdcdsl.solve import Status, solve
from sdcdsl.status import INFEASIBLE, OPTIMAL

FAR = 3e9


def rows(master: Master, *stated: tuple[list[int], list[float], float], equal: bool) -> Master:
    master.add([(np.array(at), np.array(values), rhs) for at, values, rhs in stated], equal)
    return master


def congruent(least: float) -> Master:
    """min x with 2 x - 3 y = 1, x ≥ least: whole only where x is 2 more than a multiple of 3."""
    master = Master(np.array([1.0, 0.0]), np.zeros(2), np.full(2, FAR), np.ones(2, dtype=bool))
    rows(master, ([0, 1], [2.0, -3.0], 1.0), equal=True)
    return rows(master, ([0], [1.0], least), equal=False)


@pytest.mark.parametrize("least", [2e9, 2e9 + 1, 2e9 + 2, 2e9 + 3])
def test_whole_numbers_near_fractions(least: float):
    solved = congruent(least).solve(gap=1e-6, seconds=60.0)
    x = least + (2 - least) % 3
    assert solved.status == OPTIMAL
    assert solved.x is not None and solved.x.tolist() == [x, (2 * x - 1) / 3]
    assert solved.bound <= x


def test_none_is_near_enough():
    """Without a gap the fractions prove less than the whole numbers cost: more time would not change that."""
    solved = congruent(2e9 + 1).solve(gap=0.0, seconds=60.0)
    assert (solved.objective, solved.more) == (2e9 + 3, False)
    assert solved.bound == pytest.approx(2e9 + 1, abs=0.5)


def test_a_network_is_whole_by_itself():
    """A case of soaking: deviations up to 2.5 · 10⁹ that add up in rows and columns. The same within 10⁹ of zero, where
    HiGHS can count, has the same optimum."""

    def deviations(most: float) -> Master:
        ends = np.minimum(np.tile([2484028808.0, 2483996341, 32467, 2483670691, 2483638230, 32461], 2), most)
        ends[2], ends[8] = 32467.0, 32467.0
        master = Master(np.tile([83.3, 83.2, 0.3, 83.1, 83.0, 0.4], 2), np.zeros(12), ends, np.ones(12, dtype=bool))
        rows(master, ([0, 1, 2, 6, 7, 8], [-1.0, 1, 1, 1, -1, -1], 0.0), equal=True)
        rows(master, ([3, 4, 5, 9, 10, 11], [-1.0, 1, 1, 1, -1, -1], 0.0), equal=True)
        return rows(master, ([0], [1.0], 358110.0), ([3], [1.0], 7.0), equal=False)

    far, near = (deviations(most).solve(gap=1e-9, seconds=60.0) for most in (FAR, COUNTED))
    assert far.status == near.status == OPTIMAL
    assert far.objective == pytest.approx(near.objective, rel=1e-9)
    assert far.x is not None and np.array_equal(far.x, np.rint(far.x))


def test_infeasible_is_proved_all_the_same():
    master = Master(np.ones(2), np.zeros(2), np.full(2, FAR), np.ones(2, dtype=bool))
    rows(master, ([0, 1], [1.0, 1.0], 7e9), equal=True)
    assert master.solve(seconds=60.0).status == INFEASIBLE


def test_what_can_be_counted_is():
    whole = np.array([True, True, False])
    ends = np.zeros(3), np.array([1.0, np.inf, 4e9])
    assert uncounted(whole, *ends).tolist() == [False, True, False]  # 4 · 10⁹ may become its end
    assert not uncounted(whole, ends[0], np.array([1.0, np.inf, 4e8])).any()
    assert uncounted(whole, ends[0], np.array([1.0, np.inf, 4e8]), np.array([2e9])).tolist() == [False, True, False]


def test_models_of_others():
    model = linopy.Model()
    x = model.add_variables(lower=0, upper=FAR, integer=True, name="x")
    y = model.add_variables(lower=0, upper=FAR, integer=True, name="y")
    model.add_constraints(x - y == 2.5e9)
    model.add_objective(x + 2 * y)
    found = solve(model)
    assert (found.status, found.objective) == (Status.OPTIMAL, 2.5e9)
