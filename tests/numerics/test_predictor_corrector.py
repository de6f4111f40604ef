"""The shared step on small linear programs, against HiGHS."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

from sdcdsl.numerics.interior_point.predictor_corrector import (
    Family,
    complementarity,
    moved,
    predictor_corrector,
    ratio_test,
)

BACK = 0.995


def solved(G: np.ndarray, h: np.ndarray, c: np.ndarray, steps: int) -> tuple[np.ndarray, np.ndarray]:
    """min c x, G x + s = h, s ≥ 0: dense normal equations GᵀWG."""
    x, s, l = np.zeros(len(c)), np.maximum(h, 1.0), np.ones(len(h))
    for _ in range(steps):
        lack, slope = G @ x + s - h, G.T @ l + c

        def direction(aim: Family, s=s, l=l, lack=lack, slope=slope) -> tuple[np.ndarray, Family, Family]:
            load = (aim[0] + l * lack) / s
            dx = np.linalg.solve(G.T @ ((l / s)[:, None] * G), -slope - G.T @ load)
            ds = -lack - G @ dx
            return dx, (ds,), ((aim[0] - l * ds) / s,)

        step = predictor_corrector((s,), (l,), len(h), direction, BACK)
        x = x + step.primal * step.change
        s, l = moved((s,), step.ds, step.primal)[0], moved((l,), step.dl, step.dual)[0]
        assert (s > 0).all()
        assert (l > 0).all()
    return x, l


@pytest.mark.parametrize("seed", range(5))
def test_it_ends_at_the_optimum_of_a_linear_program(seed: int):
    draw = np.random.default_rng(seed)
    n = 8
    G = np.vstack([draw.normal(size=(12, n)), np.eye(n), -np.eye(n)])
    h = np.concatenate([draw.uniform(0.5, 2.0, 12), np.full(2 * n, 3.0)])
    c = draw.normal(size=n)
    x, l = solved(G, h, c, 15)
    exact = linprog(c, G, h, bounds=(None, None))
    assert c @ x == pytest.approx(exact.fun, abs=1e-7)
    assert -h @ l == pytest.approx(exact.fun, abs=1e-7)  # the dual objective meets it


def test_the_ratio_test_stops_at_the_first_to_reach_zero():
    x = np.array([1.0, 2.0]), np.array([3.0])
    assert ratio_test(x, (np.array([-1.0, -4.0]), np.array([-1.0]))) == 0.5
    assert ratio_test(x, (np.array([1.0, 0.0]), np.array([2.0]))) == np.inf


def test_what_is_no_constraint_changes_nothing():
    """A multiplier of 0 says that there is no row: neither the centre nor the second-order term may touch it."""
    aims = []

    def direction(aim: Family) -> tuple[None, Family, Family]:
        aims.append(aim[0])
        return None, (np.array([-0.5, 0.0]),), (np.array([0.25, 0.0]),)

    s, l = (np.array([1.0, 1.0]),), (np.array([2.0, 0.0]),)
    assert complementarity(s, l) == 2.0
    predictor_corrector(s, l, 1, direction, BACK)
    # Predictor: 0 - s λ. Then μ may fall from 2 to 0.5 · 2.25: the centre is 2 · (0.5 · 2.25 / 2)³.
    np.testing.assert_allclose(aims[0], [-2.0, 0.0])
    np.testing.assert_allclose(aims[1], [2 * (0.5 * 2.25 / 2) ** 3 - 2.0 + 0.125, 0.0])
