"""Tables of a few cells: other solvers on the same problem, optimality conditions, the figures of paper 004."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.sparse import csr_array, diags_array, hstack, vstack

from sdcdsl.deadline import Deadline
from sdcdsl.numerics.nearest.feasible import proves
from sdcdsl.numerics.nearest.l1 import L1
from sdcdsl.numerics.nearest.l1l2 import mixed
from sdcdsl.numerics.nearest.l2 import L2
from sdcdsl.numerics.nearest.linf import linf
from sdcdsl.numerics.nearest.solved import SeparableCost, Solved
from sdcdsl.status import INFEASIBLE, LIMIT, OPTIMAL
from tests.methods.nearest.boxes import Box, figure_1, figure_3, random_box
from tests.shapes import shape

SEEDS = st.integers(0, 10**6)
UNITS = st.sampled_from([1.0, 1e6, 1e9, 1e-4])


def reference(box: Box, w_down: np.ndarray, w_up: np.ndarray) -> float | None:
    """Σ w_up z⁺ + w_down z⁻ by scipy; None where nothing is feasible."""
    M, l, u = box.M, box.l, box.u
    ends = np.stack(
        [
            np.concatenate([np.maximum(l, 0), np.maximum(-u, 0)]),
            np.concatenate([np.maximum(u, 0), np.maximum(-l, 0)]),
        ],
        axis=1,
    )
    found = linprog(np.concatenate([w_up, w_down]), A_eq=hstack([M, -M]), b_eq=np.zeros(shape(M)[0]), bounds=ends)
    assert found.status in (0, 2), found.message
    return found.fun if found.status == 0 else None


def is_solution(box: Box, made: Solved) -> None:
    z = made.z
    assert z is not None and made.objective is not None and made.bound is not None
    assert (z >= box.l).all() and (z <= box.u).all()
    assert (np.abs(box.M @ z) <= 1e-12 * (abs(box.M) @ (box.a + np.abs(z)))).all()
    assert made.bound <= made.objective <= made.bound + 1e-7 * made.objective + 1e-9


def is_stationary(box: Box, cost: SeparableCost, made: Solved) -> None:
    """0 ∈ ∂f(z) - Mᵀy - mu_low + mu_high, with multipliers only at the ends: nothing else makes z optimal."""
    z, low, high = made.z, made.mu_low, made.mu_high
    assert z is not None and low is not None and high is not None and made.y is not None
    assert (low >= 0).all() and (high >= 0).all() and not low[z > box.l].any() and not high[z < box.u].any()
    slope = box.M.T @ made.y + low - high - 2 * cost.w2 * z
    near = 1e-8 * (cost.w_up + cost.w_down + 2 * cost.w2 * np.abs(z).max()).max()
    assert (slope >= np.where(z > 0, cost.w_up, -cost.w_down) - near).all()
    assert (slope <= np.where(z < 0, -cost.w_down, cost.w_up) + near).all()


def is_refuted(box: Box, made: Solved) -> None:
    assert made.status == INFEASIBLE and made.z is None
    if (box.l <= box.u).all():
        assert made.y is not None and proves(box.M, box.l, box.u, made.y)


@settings(max_examples=25, deadline=None, derandomize=True)
@given(SEEDS, UNITS)
def test_l1(seed, unit):
    box = random_box(seed)
    w_down = box.w * np.random.default_rng(seed).choice([1.0, 2.0, 0.5], len(box.w))
    expected = reference(box, w_down, box.w)
    scaled = box.times(unit)
    made = L1(box.M).solve(w_down / unit, scaled.w, scaled.l, scaled.u)
    if expected is None:
        return is_refuted(scaled, made)
    assert made.status == OPTIMAL
    assert made.objective == pytest.approx(expected, rel=1e-7, abs=1e-9)
    is_solution(scaled, made)
    return is_stationary(scaled, SeparableCost(w_down / unit, scaled.w, 0 * scaled.w), made)


@settings(max_examples=25, deadline=None, derandomize=True)
@given(SEEDS, UNITS)
def test_l2(seed, unit):
    box = random_box(seed)
    scaled = box.times(unit)
    nothing = np.zeros(len(box.w))
    made = L2(box.M).solve(scaled.w / unit, scaled.l, scaled.u)
    if reference(box, box.w, box.w) is None:
        return is_refuted(scaled, made)
    assert made.status == OPTIMAL
    is_solution(scaled, made)
    return is_stationary(scaled, SeparableCost(nothing, nothing, scaled.w / unit), made)


@settings(max_examples=25, deadline=None, derandomize=True)
@given(SEEDS)
def test_l1_and_l2_together(seed):
    box = random_box(seed)
    squares = np.where(np.random.default_rng(seed).random(len(box.w)) < 0.8, box.w, 0.0)
    made = mixed(box.M, box.w, 2 * box.w, squares, box.l, box.u)
    if reference(box, box.w, box.w) is None:
        return is_refuted(box, made)
    assert made.status == OPTIMAL
    is_solution(box, made)
    return is_stationary(box, SeparableCost(box.w, 2 * box.w, squares), made)


@settings(max_examples=25, deadline=None, derandomize=True)
@given(SEEDS, UNITS)
def test_maxima(seed, unit):
    box = random_box(seed)
    scaled = box.times(unit)
    made = linf(box.M, scaled.w, scaled.l, scaled.u, box.sensitive)
    n, m = len(box.w), shape(box.M)[0]
    of = np.stack([box.sensitive, ~box.sensitive], axis=1) * 1.0
    rows = vstack([hstack([diags_array(s * box.w), csr_array(-of)]) for s in (1.0, -1.0)])
    found = linprog(
        np.append(np.zeros(n), [1.0, 1.0]),
        A_ub=rows,
        b_ub=np.zeros(2 * n),
        A_eq=hstack([box.M, csr_array((m, 2))]),
        b_eq=np.zeros(m),
        bounds=np.concatenate([np.stack([box.l, box.u], axis=1), [[0, np.inf], [0, np.inf]]]),
    )
    if found.status == 2:
        return is_refuted(scaled, made)
    assert made.status == OPTIMAL
    assert made.objective == pytest.approx(found.fun, rel=1e-6, abs=1e-9)
    return is_solution(scaled, made)


# ---- paper 004 -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("more", "objective"), [((0, 0, 0, 0), 36), ((1, 1, 1, 1), 46), ((1, 2, 3, 4), 68)])
def test_figure_1(more, objective):
    box = figure_1(more)
    made = L1(box.M).solve(box.w, box.w, box.l, box.u)
    assert made.objective == pytest.approx(objective)
    assert made.z is not None and not (box.M @ made.z).any()  # whole numbers add up exactly


def test_figure_1_multipliers():
    box = figure_1()
    made = L1(box.M).solve(box.w, box.w, box.l, box.u)
    assert made.mu_low is not None
    assert made.mu_low[box.sensitive] == pytest.approx([0, 2, 4, 4])


def test_figure_2():
    box = figure_1()
    made = L2(box.M).solve(box.w, box.l, box.u)
    assert made.z is not None
    assert np.linalg.norm(made.z) == pytest.approx(12.12, abs=0.005)
    first = [41 / 12, 41 / 12, -6, -5 / 6, 1 / 12, 1 / 12, 4, -25 / 6, -3.5, -3.5, 2, 5]
    assert made.z == pytest.approx(first, abs=1e-9)


def test_figure_3():
    box = figure_3()
    one = L1(box.M).solve(box.w, box.w, box.l, box.u)
    two = L2(box.M).solve(box.w, box.l, box.u)
    assert one.z == pytest.approx([4, 0, 4])
    assert two.z == pytest.approx([2.4, 1.6, 4])
    # In between the solution walks from one to the other.
    shares = np.arange(0, 1, 0.1)
    path = [mixed(box.M, k * box.w, k * box.w, (1 - k) * box.w, box.l, box.u).z for k in shares]
    moved = np.array([z[0] for z in path if z is not None])
    assert len(moved) == 10 and (np.diff(moved) >= -1e-9).all() and moved[0] == pytest.approx(2.4)


@pytest.mark.parametrize("cell", [0, 6, 10, 11])
def test_multipliers_are_derivatives(cell):
    """L2: the objective is smooth in the levels."""
    box, step = figure_1(), 1e-5
    solver = L2(box.M)
    made = solver.solve(box.w, box.l, box.u)
    assert made.mu_low is not None and made.objective is not None
    beyond = solver.solve(box.w, box.l + step * (np.arange(12) == cell), box.u)
    assert beyond.objective is not None
    assert (beyond.objective - made.objective) / step == pytest.approx(made.mu_low[cell], rel=1e-3, abs=1e-3)


# ---- calls ---------------------------------------------------------------------------------------------------------


def test_one_handle_for_many_questions():
    """Ends, weights and directions change; a warm answer is the answer of a fresh handle."""
    rng = np.random.default_rng(3)
    box = figure_1()
    solver = L1(box.M)
    for _ in range(25):
        l, u = box.l.copy(), box.u.copy()
        flipped = np.flatnonzero(box.sensitive & (rng.random(12) < 0.5))
        l[flipped], u[flipped] = -box.a[flipped], -box.l[flipped]
        w = rng.integers(0, 3, 12).astype(float)
        warm, fresh = solver.solve(w, w, l, u), L1(box.M).solve(w, w, l, u)
        assert warm.status == fresh.status
        if warm.status == OPTIMAL:
            assert warm.objective == pytest.approx(fresh.objective, abs=1e-9)


def test_ends_that_cross():
    box = figure_1()
    u = np.where(box.sensitive, box.l - 1, box.u)
    assert L1(box.M).solve(box.w, box.w, box.l, u).status == INFEASIBLE
    assert L2(box.M).solve(box.w, box.l, u).status == INFEASIBLE


def test_no_time():
    box = figure_1()
    deadline = Deadline(0.0)
    assert L2(box.M).solve(box.w, box.l, box.u, deadline).status == LIMIT
