"""Linear programs that change between solves, against scipy from scratch."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import csc_array, csr_array, vstack

from sdcdsl.numerics.lp import DUAL, INTERIOR_POINT, PRIMAL, LinearProgram
from sdcdsl.status import CUTOFF, INFEASIBLE, INFEASIBLE_OR_UNBOUNDED, LIMIT, OPTIMAL, UNBOUNDED

ALGORITHMS = (DUAL, PRIMAL, INTERIOR_POINT)


class Written:
    """The same program as arrays, for scipy."""

    def __init__(self, seed: int, rows: int = 6, columns: int = 12):
        draw = np.random.default_rng(seed)
        self.A = csr_array(draw.integers(-2, 3, (rows, columns)).astype(float))
        inside = draw.uniform(-1, 1, columns)
        self.cost = draw.normal(size=columns)
        self.low, self.high = inside - draw.uniform(0, 2, columns), inside + draw.uniform(0, 2, columns)
        values = self.A @ inside
        self.row_low, self.row_high = values - draw.integers(0, 2, rows), values + draw.integers(0, 2, rows)
        self.row_low[0] = -inf

    def program(self, **more) -> LinearProgram:
        rows = self.row_low, self.row_high
        return LinearProgram(self.A, cost=self.cost, bounds=(self.low, self.high), rows=rows, **more)

    def least(self) -> float | None:
        A, low, high = self.A.toarray(), self.row_low, self.row_high
        some, other = np.isfinite(high), np.isfinite(low)
        solved = linprog(
            self.cost,
            A_ub=np.vstack([A[some], -A[other]]),
            b_ub=np.concatenate([high[some], -low[other]]),
            bounds=np.column_stack([self.low, self.high]),
        )
        return float(solved.fun) if solved.status == 0 else None


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("seed", range(5))
def test_as_good_as_scipy(seed: int, algorithm: str):
    written = Written(seed)
    program = written.program(algorithm=algorithm)
    assert program.solve() == OPTIMAL
    x = program.x
    assert float(written.cost @ x) == pytest.approx(written.least(), abs=1e-6)
    assert program.objective == pytest.approx(float(written.cost @ x))
    assert (x >= written.low - 1e-6).all()
    assert (x <= written.high + 1e-6).all()
    assert program.row_values == pytest.approx(written.A @ x, abs=1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_multipliers_prove_the_optimum(seed: int):
    written = Written(seed)
    program = written.program()
    program.solve()
    y = program.dual
    reduced = written.cost - written.A.T @ y
    rows = np.where(y > 0, written.row_low, np.where(y < 0, written.row_high, 0.0))
    bound = y @ rows + np.minimum(reduced * written.low, reduced * written.high).sum()
    assert bound == pytest.approx(written.least(), abs=1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_changes_count_and_nothing_else(seed: int):
    written, draw = Written(seed), np.random.default_rng(seed + 100)
    program = written.program()
    program.solve()

    def agree() -> None:
        status, least = program.solve(), written.least()
        assert status == (INFEASIBLE if least is None else OPTIMAL)
        if least is not None:
            assert program.objective == pytest.approx(least, abs=1e-6)

    some = np.array([1, 5, 7])
    written.cost[some] = draw.normal(size=3)
    program.change_costs(written.cost[some], some)
    agree()
    written.cost = -written.cost
    program.change_costs(written.cost)
    agree()
    written.low[some] -= 1.0
    program.change_bounds(written.low[some], written.high[some], some)
    agree()
    written.low, written.high = written.low - 0.5, written.high + 0.5
    program.change_bounds(written.low, written.high)
    agree()
    row = csr_array(draw.integers(-2, 3, (2, 12)).astype(float))
    ends = row @ program.x
    written.A = csr_array(vstack([written.A, row]))
    written.row_low, written.row_high = np.append(written.row_low, ends - 0.1), np.append(written.row_high, ends)
    program.add_rows(ends - 0.1, ends, row.indptr, row.indices, row.data)
    agree()
    gone = np.zeros(8, dtype=bool)
    gone[[1, 6]] = True
    written.A = csr_array(written.A[~gone])
    written.row_low, written.row_high = written.row_low[~gone], written.row_high[~gone]
    program.delete_rows(gone)
    agree()
    column = draw.normal(size=6)
    written.A = csr_array(np.column_stack([written.A.toarray(), column]))
    written.cost = np.append(written.cost, -1.0)
    written.low, written.high = np.append(written.low, 0.0), np.append(written.high, 0.2)
    program.add_column(-1.0, 0.0, 0.2, np.arange(6), column)
    agree()
    program.change_bounds(written.low, written.high)  # of all, the new one among them
    agree()


def test_maximises():
    program = LinearProgram(
        csr_array(np.array([[1.0, 1.0]])),
        cost=np.array([1.0, 2.0]),
        bounds=(np.zeros(2), np.full(2, 3.0)),
        rows=(np.array([-inf]), np.array([4.0])),
        maximise=True,
    )
    assert program.solve() == OPTIMAL
    assert program.objective == pytest.approx(7.0)


def test_infeasible_with_multipliers_that_say_why():
    A = csr_array(np.array([[1.0, 1.0], [1.0, -1.0]]))
    program = LinearProgram(A, bounds=(np.zeros(2), np.ones(2)), rows=(np.array([3.0, 0.0]), np.array([3.0, 0.0])))
    assert program.solve() == INFEASIBLE
    y = program.dual_ray()
    assert y is not None
    slopes = A.T @ y
    most, least = np.maximum(slopes, 0).sum(), np.minimum(slopes, 0).sum()
    assert y @ np.array([3.0, 0.0]) > most or y @ np.array([3.0, 0.0]) < least


def test_unbounded_with_a_ray():
    A = csr_array(np.array([[1.0, -1.0]]))
    program = LinearProgram(
        A, cost=np.array([1.0, 0.0]), bounds=(np.zeros(2), np.full(2, inf)), maximise=True, algorithm=PRIMAL
    )
    assert program.solve() in (UNBOUNDED, INFEASIBLE_OR_UNBOUNDED)
    ray = program.primal_ray()
    assert ray is not None
    assert A @ ray == pytest.approx(0.0)
    assert ray[0] > 0


def test_limits_are_no_optimum_and_hold_for_one_solve():
    draw = np.random.default_rng(0)
    A = csr_array(draw.normal(size=(40, 80)))
    inside = draw.uniform(size=80)
    rows = A @ inside, A @ inside
    program = LinearProgram(A, cost=draw.normal(size=80), bounds=(np.zeros(80), np.ones(80)), rows=rows)
    assert program.solve(iterations=3) == LIMIT
    assert not program.timed
    assert program.solve(seconds=0.0) == LIMIT
    assert program.timed
    assert program.solve() == OPTIMAL
    least = program.objective
    program.forget()
    assert program.solve(cutoff=least - 1.0) == CUTOFF
    assert program.solve() == OPTIMAL
    assert program.objective == pytest.approx(least)


def test_a_basis_that_is_put_back_is_where_it_goes_on():
    written = Written(3, 30, 60)
    program = written.program()
    program.solve()
    first, least = program.basis, program.objective
    program.change_costs(-written.cost)
    program.solve()
    program.change_costs(written.cost)
    program.basis = first
    assert program.solve() == OPTIMAL
    assert program.iterations == 0
    assert program.objective == pytest.approx(least)


def test_nothing_to_decide():
    program = LinearProgram(csc_array((0, 0)))
    assert program.solve() == OPTIMAL
    assert not len(program.x)
