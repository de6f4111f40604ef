"""Through the inside: as good as the other way where that gets there, and there where it does not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sdcdsl.numerics.nearest.interior_point import interior
from sdcdsl.numerics.nearest.l1l2 import mixed
from sdcdsl.numerics.nearest.newton import Ended, Newton
from sdcdsl.numerics.nearest.solved import SeparableCost, lower_bound, residual
from sdcdsl.status import INFEASIBLE, OPTIMAL
from tests.methods.nearest.boxes import Box, csplib, random_box, sums
from tests.shapes import shape


def proved(box: Box, cost: SeparableCost) -> tuple[np.ndarray, float]:
    """The table that was found, and its cost: within its ends, adding up, and its multipliers prove it."""
    found = interior(box.M, cost, box.l, box.u, np.arange(shape(box.M)[0]))
    assert found is not None
    z, y = found.z, found.y
    assert (z >= box.l).all() and (z <= box.u).all()
    assert residual(box.M, z, 1.0) <= 1e-9
    objective = cost.of(z)
    bound, _ = lower_bound(box.M, cost, box.l, box.u, y, objective)
    assert abs(objective - bound) <= 1e-6 * max(objective, 1e-3)
    return z, objective


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.integers(0, 10_000), st.booleans())
@example(226, True)  # the last steps leave 2e-9 of the relations
def test_random_tables(seed, bends):
    """Cells without a price and without ends among them, and prices for both directions."""
    box = random_box(seed)
    slope = box.w if bends else 0 * box.w
    made = mixed(box.M, slope, 2 * slope, box.w, box.l, box.u)
    if made.status == INFEASIBLE:
        return
    _, objective = proved(box, SeparableCost(slope, 2 * slope, box.w))
    assert objective == pytest.approx(made.objective, rel=1e-6, abs=1e-6)


def test_ends_that_leave_one_table():
    """Three cells that add up and may only move to one place each: multipliers have no largest value there."""
    M = sums(2)
    z = np.array([3.0, -1.0, 2.0])
    low, high = np.array([3.0, -5.0, -4.0]), np.array([9.0, -1.0, 2.0])
    box = Box(M, np.full(3, 10.0), np.array([1.0, 1e8, 1e-8]), low, high, np.zeros(3, dtype=bool))
    found = mixed(M, 0 * z, 0 * z, box.w, low, high)
    assert found.status == OPTIMAL
    assert found.z == pytest.approx(z, abs=1e-9)


@pytest.mark.parametrize("spread", [4, 8])
def test_weights_many_powers_apart(spread, monkeypatch):
    """A cube in which each cell has a price of its own power of ten, without the dual method."""
    rng = np.random.default_rng(spread)
    M = sums(4, 4, 4)
    n = shape(M)[1]
    w = 10.0 ** rng.uniform(-spread, spread, n)
    low, high = np.full(n, -100.0), np.full(n, 100.0)
    up = rng.choice(n, 10, replace=False)
    low[up] = rng.integers(1, 9, 10)
    monkeypatch.setattr(Newton, "minimise", lambda self, cost, l, u, *more, **named: Ended(l, np.zeros(48), False))
    made = mixed(M, np.zeros(n), np.zeros(n), w, low, high)
    assert made.status == OPTIMAL
    assert made.bound == pytest.approx(made.objective, rel=1e-7)
    assert made.z is not None and residual(M, made.z, 1.0) <= 1e-9


def test_the_same_as_by_the_dual():
    box = csplib("hier13x7x7d")
    nothing = np.zeros(len(box.w))
    made = mixed(box.M, nothing, nothing, box.w**2 * 1e6, box.l / 1e3, box.u / 1e3)
    thousands = Box(box.M, box.a / 1e3, box.w, box.l / 1e3, box.u / 1e3, box.sensitive)
    _, objective = proved(thousands, SeparableCost(nothing, nothing, box.w**2 * 1e6))
    assert objective == pytest.approx(made.objective, rel=1e-7)
