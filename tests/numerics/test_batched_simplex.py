"""Many questions in one go are answered as one by one: by a tableau, and by the revised simplex method."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.optimize import linprog

from sdcdsl.numerics.simplex.batched import NOBODY, BatchedTargets, BatchResult, answer_all, credit
from sdcdsl.numerics.simplex.revised import RevisedSimplex
from sdcdsl.numerics.simplex.tableau import Tableau

Box = tuple[np.ndarray, np.ndarray, np.ndarray]


def box(seed: int, rows: int = 60, dimensions: int = 5) -> Box:
    """In units of slacks: the shorter way to an end is 1 in every row."""
    draw = np.random.default_rng(seed)
    short, long = np.ones(rows), draw.uniform(1, 3, rows)
    below = draw.random(rows) < 0.5
    lo, hi = -np.where(below, short, long), np.where(below, long, short)
    return draw.integers(-2, 3, (rows, dimensions)) + draw.normal(0, 0.1, (rows, dimensions)), lo, hi


def furthest(made: Box, row: int, way: float) -> float:
    rows, lo, hi = made
    A, b = np.concatenate([rows, -rows]), np.concatenate([hi, -lo])
    found = linprog(-way * rows[row], A_ub=A, b_ub=b, bounds=[(None, None)] * rows.shape[1])
    assert found.status == 0
    return -float(found.fun)


def by_tableau(made: Box, asked: BatchedTargets) -> BatchResult:
    return answer_all(Tableau(*made), asked)


def by_revised_simplex(made: Box, asked: BatchedTargets) -> BatchResult:
    return RevisedSimplex(*made).answer_all(asked)


WAYS = pytest.mark.parametrize("answer", [by_tableau, by_revised_simplex])


def questions(row: np.ndarray, way: np.ndarray, need: float, least: float = 0.0, twin: int = NOBODY) -> BatchedTargets:
    n = len(row)
    return BatchedTargets(row, way, np.full(n, need), np.full(n, least), np.full(n, twin))


@WAYS
@pytest.mark.parametrize("seed", range(4))
def test_ends_are_those_of_linear_programs(seed: int, answer: Callable[[Box, BatchedTargets], BatchResult]):
    made = box(seed)
    row, way = np.repeat(np.arange(20), 2), np.tile([1.0, -1.0], 20)
    found = answer(made, questions(row, way, np.inf))
    assert found.closed.all()
    np.testing.assert_allclose(
        found.reached, [furthest(made, int(r), w) for r, w in zip(row, way, strict=True)], rtol=1e-8
    )


def test_what_is_left_of_a_step_by_rounding_is_no_step():
    """A cell that is held at 0: the way back there ends in 2e-16, which nothing stops from being stretched."""
    reached, closed = np.zeros(3), np.zeros(3, dtype=bool)
    lo, hi = np.array([-1.0, 0.0, -1.0]), np.ones(3)
    row, way = np.array([0, 0, 2]), np.array([1.0, -1.0, 1.0])
    credit(np.array([2e-16, 0.0, -2e-16]), lo, hi, row, way, np.ones(3), reached, closed)
    assert not reached.any() and not closed.any()
    credit(np.array([2e-16, 0.5, 0.5]), lo, hi, row, way, np.ones(3), reached, closed)
    assert reached.tolist() == [0.0, 0.0, 1.0]


@WAYS
def test_answers_are_inside_and_their_prices_say_why(answer: Callable[[Box, BatchedTargets], BatchResult]):
    rows, lo, hi = made = box(7)
    row, way = np.arange(12), np.ones(12)
    found = answer(made, questions(row, way, np.inf))
    if answer is by_tableau:  # it has units of its own for the coordinates
        rows = Tableau(*made).rows[:-1]
    x = found.points @ rows.T
    assert (x <= hi + 1e-9).all() and (x >= lo - 1e-9).all()
    for q in np.flatnonzero(found.by >= 0):
        support, price = found.support[found.by[q]], found.prices[found.by[q]]
        np.testing.assert_allclose(price @ rows[support], rows[row[q]], atol=1e-9)
        assert np.where(price > 0, price * hi[support], price * lo[support]).sum() == pytest.approx(found.reached[q])


@WAYS
def test_who_is_far_enough_is_not_asked_about(answer: Callable[[Box, BatchedTargets], BatchResult]):
    made = box(3)
    all_of_it = answer(made, questions(np.arange(30), np.ones(30), np.inf))
    a_little = answer(made, questions(np.arange(30), np.ones(30), 0.05))
    assert (a_little.reached >= 0.05 * (1 - 1e-9)).all()
    assert len(a_little.points) < len(all_of_it.points)


@WAYS
def test_the_other_side_of_who_falls_short_is_not_asked_about(answer: Callable[[Box, BatchedTargets], BatchResult]):
    made = box(5)
    reach = {row: furthest(made, row, 1.0) for row in range(20)}
    row = min(reach, key=lambda r: reach[r])
    assert reach[row] < 0.99
    two = np.array([row, row])
    asked = BatchedTargets(two, np.array([1.0, -1.0]), np.ones(2), np.array([0.99, 0.0]), np.array([1, NOBODY]))
    assert answer(made, asked).closed.tolist() == [True, False]
    nobody = BatchedTargets(two, np.array([1.0, -1.0]), np.ones(2), np.array([0.99, 0.0]), np.full(2, NOBODY))
    assert len(answer(made, nobody).points) == 2
