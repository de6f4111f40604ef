"""The bound holds whatever the number of steps; after enough of them it is the optimum that HiGHS finds."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import csr_array, eye_array, hstack

from sdcdsl.numerics.primal_dual_gradient import Rows, relaxed


def problem(seed: int):
    """Whole windows around a point that keeps them; steeper beyond the inner ends in some rows, open above in one."""
    draw = np.random.default_rng(seed)
    A = csr_array((draw.random((8, 30)) < 0.3).astype(float))
    middle = A @ draw.random(30)
    low, high = np.floor(middle), np.ceil(middle)
    beyond = draw.integers(0, 2, 8).astype(float)
    over, under = 2.0 * draw.random(8), 2.0 * draw.random(8)
    most = high + beyond
    high[-1] = most[-1] = np.inf
    return draw.normal(size=30), Rows(A, low - beyond, low, high, most, over, under)


def optimum(cost: np.ndarray, of: Rows) -> float:
    n, m = len(cost), len(of.least)
    finite = np.isfinite(of.high)
    one = eye_array(m)
    A = hstack([of.A, -one, one]).toarray()  # what is beyond the inner ends stands in columns of its own
    slack = np.where(finite, of.most - np.where(finite, of.high, 0.0), 0.0)
    bounds = [(0, 1)] * n + [(0, r) for r in slack] + [(0, r) for r in of.low - of.least]
    above = A[finite]
    made = linprog(
        np.concatenate([cost, of.over, of.under]),
        A_ub=np.vstack([above, -A]),
        b_ub=np.concatenate([of.high[finite], -of.low]),
        bounds=bounds,
    )
    assert made.status == 0
    return float(made.fun)


@pytest.mark.parametrize("seed", range(6))
def test_the_bound(seed: int) -> None:
    cost, of = problem(seed)
    best = optimum(cost, of)
    lower, upper = np.zeros(30), np.ones(30)
    bounds = [relaxed(cost, lower, upper, of, steps, lambda: False).bound for steps in (40, 200, 4000)]
    assert all(bound <= best + 1e-9 for bound in bounds)
    assert bounds[-1] == pytest.approx(best, abs=0.02 * max(abs(best), 1.0))


def test_when_it_is_over_there_is_a_point_and_perhaps_no_bound() -> None:
    cost, of = problem(0)
    made = relaxed(cost, np.zeros(30), np.ones(30), of, 1000, lambda: True)
    assert made.steps == 0 and made.bound == -np.inf and len(made.x) == 30
