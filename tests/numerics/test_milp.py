"""Mixed-integer problems with rows of two sides, against every whole point there is."""

from __future__ import annotations

from itertools import product
from math import inf

import numpy as np
import pytest
from scipy.sparse import csr_array

from sdcdsl.numerics.milp import MixedIntegerProgram
from sdcdsl.status import INFEASIBLE, OPTIMAL


def problem(seed: int) -> MixedIntegerProgram:
    draw = np.random.default_rng(seed)
    A = draw.integers(-2, 3, (4, 6))
    middle = A @ draw.integers(-1, 3, 6)
    width = draw.integers(0, 3, 4)
    low, high = (middle - width).astype(float), (middle + width).astype(float)
    high[0] = inf
    ends = np.full(6, -1.0), np.full(6, 2.0)
    return MixedIntegerProgram(
        draw.normal(size=6), *ends, np.ones(6, dtype=bool), csr_array(A.astype(float)), low, high
    )


def every(of: MixedIntegerProgram) -> np.ndarray:
    points = np.array(list(product(range(-1, 3), repeat=6)), dtype=float)
    y = points @ of.A.toarray().T
    return points[((y >= of.low) & (y <= of.high)).all(axis=1)]


@pytest.mark.parametrize("seed", range(6))
def test_the_best_of_all_points(seed: int):
    of = problem(seed)
    allowed = every(of)
    solved = of.solve(start=allowed[0], gap=0.0, absolute_gap=0.0, over=lambda: False, seconds=20.0, seed=0)
    assert solved.status == OPTIMAL
    assert solved.x is not None
    assert (np.abs(allowed - np.round(solved.x)).sum(axis=1) == 0).any()
    assert solved.objective == pytest.approx(float((allowed @ of.cost).min()))


def test_no_point():
    of = MixedIntegerProgram(
        np.ones(2),
        np.zeros(2),
        np.ones(2),
        np.ones(2, dtype=bool),
        csr_array(np.array([[2.0, 2.0]])),
        *([np.ones(1)] * 2),
    )
    solved = of.solve(start=None, gap=0.0, absolute_gap=0.0, over=lambda: False, seconds=20.0, seed=0)
    assert (solved.status, solved.x) == (INFEASIBLE, None)


def test_what_is_cut_short_is_not_called_the_best():
    draw = np.random.default_rng(0)
    n = 60
    rows = csr_array(draw.integers(1, 100, (5, n)).astype(float))
    half = np.floor(rows.sum(axis=1) / 2)
    cost = -draw.integers(1, 100, n).astype(float)
    of = MixedIntegerProgram(cost, np.zeros(n), np.ones(n), np.ones(n, dtype=bool), rows, np.full(5, -inf), half)
    solved = of.solve(start=np.zeros(n), gap=0.0, absolute_gap=0.0, over=lambda: True, seconds=20.0, seed=0)
    assert solved.status != OPTIMAL
    if solved.x is not None:
        assert (rows @ np.round(solved.x) <= half).all()
