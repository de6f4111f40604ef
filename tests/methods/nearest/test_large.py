"""Values of very different size, and what is left of residuals."""

from __future__ import annotations

import numpy as np
import pytest

from sdcdsl.numerics.nearest.additive import additive
from sdcdsl.numerics.nearest.l1 import L1
from sdcdsl.numerics.nearest.l1l2 import mixed
from sdcdsl.numerics.nearest.l2 import L2
from sdcdsl.status import OPTIMAL
from tests.methods.nearest.boxes import Box, sums


def spread(sides: tuple[int, ...], seed: int, orders: float) -> Box:
    """Lognormal values over many orders of magnitude, a tenth of them sensitive with levels of 10 %."""
    rng = np.random.default_rng(seed)
    a = np.ceil(rng.lognormal(6, orders, sides))
    for axis in range(len(sides)):
        a = np.concatenate([a, a.sum(axis=axis, keepdims=True)], axis=axis)
    a = a.ravel()
    sensitive = rng.random(len(a)) < 0.1
    l = np.where(sensitive, 0.1 * a, -a)
    return Box(sums(*sides), a, 1 / a, l, np.full(len(a), np.inf), sensitive)


@pytest.mark.parametrize("box", [spread((12, 12, 12), 1, 5.0), spread((30, 30), 1, 6.0)], ids=["3-D", "2-D"])
def test_values_from_one_to_a_million_million(box):
    assert box.a.max() > 1e10 and box.a.min() < 10
    w = box.w
    for made in (
        L1(box.M).solve(w, w, box.l, box.u),
        L2(box.M).solve(w, box.l, box.u),
        mixed(box.M, w, w, 0.01 * w, box.l, box.u),
    ):
        assert made.status == OPTIMAL and made.z is not None and made.objective is not None and made.bound is not None
        assert made.objective - made.bound <= 1e-7 * made.objective
        x = box.a + made.z
        assert (np.abs(box.M @ x) <= 1e-12 * (abs(box.M) @ x)).all()
        assert (made.z[box.sensitive] >= box.l[box.sensitive]).all()


def test_residuals_go_where_there_is_slack():
    box = spread((6, 6), 2, 1.0)
    z = L2(box.M).solve(box.w, box.l, box.u).z
    assert z is not None
    rng = np.random.default_rng(0)
    off = z * (1 + 1e-6 * rng.standard_normal(len(z)))
    made = additive(box.M, off, box.l, box.u)
    assert (np.abs(box.M @ made) <= 1e-13 * (abs(box.M) @ np.abs(made))).all()
    at_ends = np.clip(off, box.l, box.u) == box.l
    assert at_ends.any() and (made[at_ends] == box.l[at_ends]).all()
    assert np.abs(made - z).max() <= 1e-4 * np.abs(z).max()


def test_whole_deviations_are_exact():
    M = sums(2, 2)
    z = np.array([1.0, -1.0, 0.0, -1.0, 1.0, 0.0, 0.0, 0.0, 0.0])
    made = additive(M, z + 1e-9, np.full(9, -2.0), np.full(9, 2.0))
    assert (made == z).all()
