"""The inner way, held against a linear program solver that knows nothing of it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

from sdcdsl.attack.bound_propagation import Propagated
from sdcdsl.numerics.interior_point.box import BoxInteriorPoint
from sdcdsl.numerics.interior_point.box_loops import NEAR, REACHED, SHORT, THERE
from sdcdsl.numerics.interior_point.crossover import corner, corner_at_end, supporting
from sdcdsl.numerics.interior_point.normal_equations import factor, solve, without
from sdcdsl.numerics.null_space import RelationMatrix


def box(seed: int, one_sided: float, share: float = 1.0):
    """Rows of a random table that moves in eight dimensions; some of them can go one way only."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(-2, 3, (60, 8)) * (rng.random((60, 8)) < share) + 0.0
    rows[:8] = np.eye(8)
    lo, hi = -rng.uniform(0.5, 1.5, 60), rng.uniform(0.5, 1.5, 60)
    lo[rng.random(60) < one_sided], hi[rng.random(60) < one_sided / 2] = 0.0, 0.0
    return rows, lo, hi


def furthest(rows, lo, hi, target):
    """The solver's answer, with the target's own ends like all others."""
    both = np.concatenate([rows, -rows])
    found = linprog(-rows[target], A_ub=both, b_ub=np.concatenate([hi, -lo]), bounds=(None, None), method="highs")
    assert found.status == 0
    return -found.fun


@pytest.mark.parametrize("share", [1.0, 0.2])
@pytest.mark.parametrize("one_sided", [0.0, 0.1])
@pytest.mark.parametrize("seed", range(3))
def test_the_end_lies_between_point_and_bound(seed, one_sided, share):
    rows, lo, hi = box(seed, one_sided, share)
    made = BoxInteriorPoint(rows, lo, hi)
    corners = 0
    for target in range(10):
        if hi[target] == 0:
            continue
        end = furthest(rows, lo, hi, target)
        answer = made.push(target, 1.0, float(hi[target]), exact=True)
        if answer.ended == REACHED:
            assert end == pytest.approx(hi[target], abs=1e-7)
            x = rows @ answer.point * min(1.0, hi[target] / answer.reached)
            assert (x <= hi + 1e-9).all() and (x >= lo - 1e-9).all()
            continue
        if answer.ended != NEAR:
            continue  # the tableau takes over
        assert min(answer.bound, hi[target]) == pytest.approx(end, abs=1e-4)
        chosen = supporting(rows, answer)
        found = None if chosen is None else corner(rows, lo, hi, answer, chosen, target, 1.0)
        if found is not None:
            corners += 1
            assert rows[target] @ found.point == pytest.approx(end, abs=1e-8)
            assert found.coefficient @ rows[found.rows] == pytest.approx(rows[target], abs=1e-8)
    if not one_sided:
        assert corners or all(furthest(rows, lo, hi, t) >= hi[t] - 1e-7 for t in range(10))


@pytest.mark.parametrize("seed", range(5))
def test_few_rows_that_hold_a_move_are_found_on_the_way(seed):
    """Thirty dimensions, and a target that is a combination of three rows: whatever the others do, it ends there."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(90, 30))
    lo, hi = -rng.uniform(20, 40, 90), rng.uniform(20, 40, 90)
    lo[:3], hi[:3] = -rng.uniform(0.5, 1.5, 3), rng.uniform(0.5, 1.5, 3)
    rows[3] = np.array([1.0, -0.5, 0.25]) @ rows[:3]
    end = hi[0] - 0.5 * lo[1] + 0.25 * hi[2]
    assert furthest(rows, lo, hi, 3) == pytest.approx(end)
    made = BoxInteriorPoint(rows, lo, hi)
    answer = made.push(3, 1.0, float(hi[3]), exact=True)
    assert answer.ended == THERE
    found = corner_at_end(rows, lo, hi, answer, 3, 1.0)
    assert found is not None
    assert rows[3] @ found.point == pytest.approx(end, rel=1e-12)
    assert (rows @ found.point <= hi + 1e-11).all() and (rows @ found.point >= lo - 1e-11).all()
    assert dict(zip(found.rows.tolist(), found.coefficient, strict=True)) == pytest.approx({0: 1.0, 1: -0.5, 2: 0.25})
    assert corner_at_end(rows, lo, hi * 0.9, answer, 3, 1.0) is None  # not where other ends are
    assert made.push(3, 1.0, float(hi[3]), exact=True, corners=False).ended in (NEAR, REACHED)
    assert made.push(3, 1.0, 0.9 * end, exact=True).ended == REACHED  # far enough is enough


@pytest.mark.parametrize("seed", range(6))
def test_prices_prove_what_falls_short(seed):
    rows, lo, hi = box(seed, 0.1)
    made = BoxInteriorPoint(rows, lo, hi)
    for target in range(10):
        end = furthest(rows, lo, hi, target)
        answer = made.push(target, 1.0, 1.3 * end + 0.1, exact=False)
        if answer.ended != SHORT:
            continue
        assert answer.price @ rows == pytest.approx(rows[target], abs=1e-7)
        ends = np.where(answer.price > 0, answer.price * hi, answer.price * lo)
        ends[target] = max(ends[target], 0.0)
        assert end - 1e-7 <= ends.sum() + 1e-7
        assert answer.bound < 1.3 * end + 0.1


@pytest.mark.parametrize("seed", range(8))
def test_relations_prove_the_slacks_they_leave(seed):
    rng = np.random.default_rng(seed)
    parts = [rng.choice(30, rng.integers(2, 5), replace=False) for _ in range(14)]
    value = np.concatenate([rng.choice([-1.0, 1.0, 2.0], len(p)) for p in parts])
    start = np.concatenate([[0], np.cumsum([len(p) for p in parts])])
    matrix = RelationMatrix(start, np.concatenate(parts), value, 30)
    l, u = -rng.integers(0, 9, 30).astype(float), rng.integers(0, 9, 30).astype(float)
    u[rng.random(30) < 0.2] = np.inf
    made = Propagated(matrix, l, u)
    assert (made.l >= l).all() and (made.u <= u).all()
    narrower = 0
    for cell in range(30):
        for sign, slack, before in ((1, made.u[cell], u[cell]), (-1, -made.l[cell], -l[cell])):
            if slack == before:
                continue
            narrower += 1
            identity = made.multipliers(cell, sign)
            assert identity is not None
            gamma = np.zeros(matrix.rows)
            gamma[identity[0]] = identity[1]
            c = sign * (np.arange(30) == cell) - matrix.sparse.T @ gamma
            c[np.abs(c) < 1e-12] = 0.0
            with np.errstate(invalid="ignore"):
                shown = np.where(c > 0, c * u, np.where(c < 0, c * l, 0.0)).sum()
            assert shown <= slack + 1e-9
    assert narrower


@pytest.mark.parametrize("seed", range(4))
def test_coordinates_that_are_all_but_parallel(seed):
    """The rows of a null space may say nearly the same in all coordinates: no reason to lose the way near the end."""
    rows, lo, hi = box(seed, 0.0)
    rng = np.random.default_rng(seed)
    parallel = np.ones((8, 8)) + 1e-7 * rng.normal(size=(8, 8))
    made = BoxInteriorPoint(rows @ parallel, lo, hi)
    for target in range(10):
        answer = made.push(target, 1.0, float(hi[target]), exact=True)
        assert answer.ended in (NEAR, REACHED)
        reached = min(answer.reached, hi[target])
        assert reached == pytest.approx(furthest(rows, lo, hi, target), rel=1e-4)
        x = rows @ parallel @ answer.point * min(1.0, hi[target] / answer.reached)
        assert (x <= hi + 1e-6).all() and (x >= lo - 1e-6).all()


@pytest.mark.parametrize("k", [8, 120])  # by a loop, by a library
def test_factors(k):
    rng = np.random.default_rng(k)
    rows = rng.normal(size=(2 * k, k))
    h = rows.T @ rows
    lower = h.copy()
    factor(lower)
    np.testing.assert_allclose(np.tril(lower) @ np.tril(lower).T, h, rtol=1e-9, atol=1e-9)
    assert without(lower, rows[0], 0.5)
    np.testing.assert_allclose(
        np.tril(lower) @ np.tril(lower).T, h - 0.5 * np.outer(rows[0], rows[0]), rtol=1e-8, atol=1e-8
    )
    assert not without(lower, rows[0], 1e9)
    h[3], h[:, 3] = 0.0, 0.0  # nothing holds this one
    lower = h.copy()
    factor(lower)
    y = np.ones(k)
    solve(lower, y)
    assert abs(y[3]) < 1e-9 and np.isfinite(y).all()
