"""The growing master: bounds that hold, rows that come and go, honest statuses."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog, milp

from sdcdsl.numerics.master import Master


def random_rows(draw: np.random.Generator, columns: int, rows: int):
    out = []
    for _ in range(rows):
        at = np.sort(draw.choice(columns, int(draw.integers(1, 5)), replace=False))
        out.append((at, draw.uniform(0.1, 1.0, len(at)), float(draw.uniform(0.1, 0.9) * 0.5)))
    return out


def dense(rows, columns: int) -> tuple[np.ndarray, np.ndarray]:
    A = np.zeros((len(rows), columns))
    for r, (at, value, _) in enumerate(rows):
        A[r, at] = value
    return A, np.array([rhs for _, _, rhs in rows])


@pytest.mark.parametrize("seed", range(5))
def test_grows_shrinks_and_bounds(seed: int):
    draw = np.random.default_rng(seed)
    cost = draw.uniform(1, 5, 12)
    master = Master(cost, np.zeros(12), np.full(12, np.inf))
    rows = []
    relaxed, true = None, np.nan
    for _ in range(4):
        rows += random_rows(draw, 12, 6)
        master.add(rows[-6:])
        relaxed = master.relax()
        A, b = dense(rows, 12)
        true = linprog(cost, -A, -b).fun
        assert relaxed.status == "optimal"
        assert relaxed.objective == pytest.approx(true, rel=1e-7)
        assert relaxed.bound <= true * (1 + 1e-12)
        assert relaxed.bound == pytest.approx(true, rel=1e-6)
    assert relaxed is not None and relaxed.slack is not None
    slack = relaxed.slack > 1e-7
    master.purge(slack)
    assert master.rows == len(rows) - slack.sum()
    assert master.relax().objective == pytest.approx(true, rel=1e-7)


@pytest.mark.parametrize("wrong", [0.0, -0.3, 7.0])
def test_no_multipliers_prove_more_than_there_is(wrong: float):
    draw = np.random.default_rng(3)
    cost, rows = draw.uniform(1, 5, 12), random_rows(draw, 12, 8)
    A, b = dense(rows, 12)
    for upper in (np.ones(12), np.full(12, np.inf)):
        master = Master(cost, np.zeros(12), upper)
        master.add(rows)
        true = linprog(cost, -A, -b, bounds=[(0, u) for u in upper]).fun
        assert master.safe_bound(draw.normal(wrong, 2.0, 8))[0] <= true + 1e-9


def test_integers_with_a_start_and_statuses():
    draw = np.random.default_rng(1)
    cost, rows = draw.uniform(1, 5, 12), random_rows(draw, 12, 10)
    master = Master(cost, np.zeros(12), np.ones(12), np.ones(12, dtype=bool))
    master.add(rows)
    A, b = dense(rows, 12)
    true = milp(cost, constraints=(A, b, np.inf), integrality=np.ones(12), bounds=(0, 1)).fun
    solved = master.solve(start=np.ones(12))
    assert solved.status == "optimal"
    assert solved.objective == pytest.approx(true)
    assert solved.bound <= true * (1 + 1e-9)
    master.bound_columns(np.arange(12), np.zeros(12), np.zeros(12))
    assert master.solve().status == "infeasible"
    assert master.solve().x is None
    assert master.relax().status == "infeasible"


@pytest.mark.parametrize("seed", range(8))
def test_around_a_solution_only_free_columns_leave(seed: int):
    draw = np.random.default_rng(seed)
    cost, rows = draw.uniform(1, 5, 12), random_rows(draw, 12, 10)
    master = Master(cost, np.zeros(12), np.ones(12), np.ones(12, dtype=bool))
    master.add(rows)
    same = np.array([0, 1, 2]), np.ones(3), 2.0
    start = np.ones(12)
    start[0] = 0.0
    A, b = dense(rows, 12)
    if (A @ start < b).any():
        start[0], same = 1.0, (same[0], same[1], 3.0)
    master.add([same], equal=True)
    free = draw.random(12) < 0.6
    solved = master.solve_around(start, free, gap=0.0, seconds=10.0, seed=0)
    line = np.zeros(12)
    line[same[0]] = 1.0
    low, high = np.where(free, 0.0, start), np.where(free, 1.0, start)
    rows_of = [(A, b, np.inf), (line[None, :], same[2], same[2])]
    true = milp(cost, constraints=rows_of, integrality=np.ones(12), bounds=(low, high)).fun
    assert solved.status == "optimal"
    assert solved.objective == pytest.approx(true)
    assert solved.x is not None
    assert (solved.x[~free] == start[~free]).all()
    assert cost @ solved.x == pytest.approx(true)
