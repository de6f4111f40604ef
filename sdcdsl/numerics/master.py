"""A master problem that grows by rows: min c x, l ≤ x ≤ u, A x ≥ b, some x integer.

Cut loops live here because a modelling layer would rebuild the model for every cut. The linear relaxation is re-solved
by dual simplex from the last basis; rows can be taken out again without losing it. The bound that is reported is
computed from the multipliers by plain arithmetic, so that it holds whatever the tolerances of the solver were:

    y ≥ 0:    c x ≥ y b + Σ_j min over l_j ≤ x_j ≤ u_j of (c - yᵀA)_j x_j       (y of either sign for equations)

A mixed-integer solve builds a model of its own from the same rows, so that the relaxation keeps its basis. (HiGHS has
no usable callback for lazy constraints.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from math import inf
from time import monotonic
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from sdcdsl.numerics.integrality import SOLVED, missed, uncounted
from sdcdsl.numerics.lp import LinearProgram
from sdcdsl.numerics.milp import Integral, MixedIntegerProgram
from sdcdsl.status import FAILED, FEASIBLE, INFEASIBLE, LIMIT, OPTIMAL

AROUND = 2.0**20  # how far from their fractions whole numbers are looked for where they cannot be counted from zero
ROUNDING = 1e-12  # of the terms of a sum
TINY = 1e-7  # reduced costs of the wrong sign up to this share of the cost are the solver's, not the model's

Row = tuple[np.ndarray, np.ndarray, float]  # columns, coefficients, right hand side


@dataclass(frozen=True, eq=False)
class Relaxed:
    status: str
    x: np.ndarray
    objective: float = -inf
    bound: float = -inf  # holds by arithmetic
    slack: np.ndarray | None = None  # [row] A x - b
    dual: np.ndarray | None = None  # [row]
    reduced: np.ndarray | None = None  # [column] c - yᵀA, for the y of the bound
    steps: int = 0  # of the simplex method


class Master:
    def __init__(self, cost: np.ndarray, lower: np.ndarray, upper: np.ndarray, integer: np.ndarray | None = None):
        self.cost, self.lower, self.upper = cost.astype(float), lower.astype(float), upper.astype(float)
        self.integer = np.zeros(len(cost), dtype=bool) if integer is None else integer
        self.matrix = csr_array((0, len(cost)))
        self.rhs = np.zeros(0)
        self.equations = np.zeros(0, dtype=bool)  # [row]: held with equality
        self._program = LinearProgram(
            self.matrix,
            cost=self.cost,
            bounds=(self.lower, self.upper),
            primal_tolerance=SOLVED,
            dual_tolerance=SOLVED,
        )

    @property
    def rows(self) -> int:
        return len(self.rhs)

    def add(self, rows: Iterable[Row], equal: bool = False) -> int:
        """Rows Σ coefficient · x ≥ rhs, or = rhs; returns how many."""
        rows = list(rows)
        if not rows:
            return 0
        columns, values = [r[0] for r in rows], [r[1] for r in rows]
        rhs = np.array([r[2] for r in rows], dtype=float)
        start, index, value = _joined(columns, values)
        most = rhs if equal else np.full(len(rows), inf)
        self._program.add_rows(rhs, most, start, index, value)
        self.rhs = np.concatenate([self.rhs, rhs])
        self.equations = np.concatenate([self.equations, np.full(len(rows), equal)])
        self.matrix = _below(self.matrix, start, index, value, len(self.cost))
        return len(rows)

    def purge(self, gone: np.ndarray) -> None:
        """Takes rows out; if none of them was tight the next solve goes on from where the last one ended."""
        if not gone.any():
            return
        self._program.delete_rows(gone)
        stay = np.flatnonzero(~gone)
        self.matrix = csr_array(self.matrix[stay])
        self.rhs, self.equations = self.rhs[stay], self.equations[stay]

    def bound_columns(self, columns: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> None:
        self.lower[columns], self.upper[columns] = lower, upper
        self._program.change_bounds(lower, upper, columns)

    def relax(self, seconds: float = inf) -> Relaxed:
        """The linear relaxation."""
        program = self._program
        status = program.solve(seconds=seconds)
        sure = status in (OPTIMAL, LIMIT) or (status == INFEASIBLE and self._ruled_out())
        if not sure:  # once more, from nothing
            program.forget()
            status = program.solve(seconds=seconds)
        if status != OPTIMAL:
            return Relaxed(status if status in (INFEASIBLE, LIMIT) else FAILED, np.zeros(len(self.cost)))
        x, dual, slack = program.x, program.dual, program.row_values - self.rhs
        bound, reduced = self.safe_bound(dual)
        return Relaxed(OPTIMAL, x, float(self.cost @ x), bound, slack, dual, reduced, program.iterations)

    def _ruled_out(self) -> bool:
        """Whether the solver's ray proves by arithmetic that no x keeps all rows: y b is more than y A x can be."""
        ray = self._program.dual_ray()
        if ray is None or not self.rows:
            return bool((self.lower > self.upper).any())
        for y in (ray, -ray):
            y = np.where(self.equations, y, np.maximum(y, 0.0))  # noqa: PLW2901
            load, size = self.matrix.T @ y, abs(self.matrix).T @ np.abs(y)
            load = np.where(np.abs(load) <= ROUNDING * size, 0.0, load)
            with np.errstate(invalid="ignore"):
                most = np.where(load == 0, 0.0, np.maximum(load * self.lower, load * self.upper))
            terms = float(np.abs(y) @ np.abs(self.rhs) + np.abs(most).sum())
            if np.isfinite(terms) and float(y @ self.rhs - most.sum()) > ROUNDING * terms:
                return True
        return False

    def safe_bound(self, dual: np.ndarray) -> tuple[float, np.ndarray]:
        """What these multipliers prove, and the reduced costs they leave."""
        y = np.where(self.equations, dual, np.maximum(dual, 0.0)) if self.rows else dual
        load = self.matrix.T @ y if self.rows else np.zeros(len(self.cost))
        # Where a reduced cost is negative by no more than rounding, a slightly smaller y proves almost as much.
        over = (load > self.cost) & (load <= self.cost * (1 + TINY)) | (load > self.cost) & ~np.isfinite(self.upper)
        if over.any():
            shrink = float((self.cost[over] / load[over]).min()) * (1 - 1e-15)
            y, load = y * shrink, load * shrink
        reduced = self.cost - load
        at = np.where(reduced >= 0, self.lower, self.upper)
        at = np.where(reduced == 0, 0.0, at)
        bound = float(y @ self.rhs + (reduced * at).sum()) if self.rows else float((reduced * at).sum())
        return bound - 1e-13 * abs(bound), reduced

    def solve(
        self,
        *,
        start: np.ndarray | None = None,
        gap: float = 0.0,
        seconds: float = inf,
        threads: int = 1,
        seed: int = 0,
        heuristics: bool = True,
        over: Callable[[], bool] | None = None,
        offset: float = 0.0,
    ) -> Integral:
        """The mixed-integer problem over the rows there are. `seconds` are on the wall; `over` is asked now and then
        whether to end, by whatever deadline. The gap is a share of the cost and `offset` together."""
        if not self.integer.any():  # HiGHS names no bound then
            made = self.relax(seconds)
            if made.status == OPTIMAL:
                return Integral(OPTIMAL, made.x, made.objective, made.bound)
            bound = inf if made.status == INFEASIBLE else -inf
            return Integral(made.status, None, inf, bound, timed=made.status == LIMIT)
        far = uncounted(self.integer, self.lower, self.upper, self.rhs)
        if far.any():
            return self._in_two_steps(
                far,
                start,
                gap,
                seconds,
                {"threads": threads, "seed": seed, "heuristics": heuristics, "over": over, "offset": offset},
            )
        program = MixedIntegerProgram(
            self.cost,
            self.lower,
            self.upper,
            self.integer,
            self.matrix,
            self.rhs,
            np.where(self.equations, self.rhs, inf),
        )
        return program.solve(
            start=start,
            gap=gap,
            seconds=seconds,
            threads=threads,
            seed=seed,
            heuristics=heuristics,
            over=over,
            offset=offset,
            primal_tolerance=SOLVED,
            dual_tolerance=SOLVED,
        )

    def _in_two_steps(
        self, far: np.ndarray, start: np.ndarray | None, gap: float, seconds: float, others: dict[str, Any]
    ) -> Integral:
        """First with fractions in the columns that cannot be counted, which is where the bound comes from. Where these
        are not whole by themselves (those of networks are), all whole numbers near them, counted from there."""
        begun = monotonic()
        free = self._counted_from(np.zeros(len(self.cost)), self.lower, self.upper, self.integer & ~far)
        first = free.solve(start=start, gap=gap, seconds=seconds, **others)
        if first.x is None:
            return first
        met = [x for x in (np.where(far, np.rint(x), x) for x in first.met) if self._kept_by(x)]
        x = np.where(far, np.rint(first.x), first.x)
        if self._kept_by(x):
            return replace(first, x=x, objective=float(self.cost @ x), met=met)
        origin = np.where(far, x, 0.0)
        reach = np.where(far, AROUND, inf)
        near = self._counted_from(
            origin, np.maximum(self.lower - origin, -reach), np.minimum(self.upper - origin, reach), self.integer
        )
        second = near.solve(gap=gap, seconds=max(seconds - (monotonic() - begun), 0.0), **others)
        met += [x + origin for x in second.met]
        timed = first.timed or second.timed
        if second.x is None:
            return Integral(LIMIT if timed else FAILED, None, inf, first.bound, met, timed=timed)
        x = second.x + origin
        objective = float(self.cost @ x)
        status = OPTIMAL if objective - first.bound <= gap * abs(objective) else FEASIBLE
        return Integral(status, x, objective, first.bound, met, timed, timed)

    def _counted_from(self, origin: np.ndarray, lower: np.ndarray, upper: np.ndarray, integer: np.ndarray) -> Master:
        """The same rows for x - origin."""
        out = Master(self.cost, lower, upper, integer)
        left = self.rhs - self.matrix @ origin if self.rows else self.rhs
        A = self.matrix
        parts = [slice(A.indptr[r], A.indptr[r + 1]) for r in range(self.rows)]
        for equal in (True, False):
            chosen = np.flatnonzero(self.equations == equal).tolist()
            out.add([(A.indices[parts[r]], A.data[parts[r]], float(left[r])) for r in chosen], equal)
        return out

    def _kept_by(self, x: np.ndarray) -> bool:
        if not self.rows:
            return True
        A = self.matrix
        fractions = abs(A) @ np.where(self.integer, 0.0, 1.0)
        return not missed(A @ x, self.rhs, abs(A) @ np.abs(x), self.equations, fractions == 0).any()

    def solve_around(self, start: np.ndarray, free: np.ndarray, *, gap: float, seconds: float, seed: int) -> Integral:
        """The mixed-integer problem in which only `free` columns leave where `start` has them: rows and columns that do
        not matter are left out, which saves most of the time of a small neighbourhood. The bound is one of it alone."""
        columns = np.flatnonzero(free)
        part = csr_array(self.matrix[:, columns])
        left = self.rhs - self.matrix @ np.where(free, 0.0, start)
        small = Master(self.cost[columns], self.lower[columns], self.upper[columns], self.integer[columns])
        touched, equations = np.diff(part.indptr) > 0, self.equations
        for equal in (True, False):
            chosen = np.flatnonzero(touched & (equations == equal))
            parts = [slice(part.indptr[r], part.indptr[r + 1]) for r in chosen.tolist()]
            small.add(
                [(part.indices[s], part.data[s], float(left[r])) for r, s in zip(chosen, parts, strict=True)], equal
            )
        solved = small.solve(start=start[columns], gap=gap, seconds=seconds, seed=seed)
        rest = float(self.cost @ np.where(free, 0.0, start))

        def whole(x: np.ndarray) -> np.ndarray:
            out = start.copy()
            out[columns] = x
            return out

        x = None if solved.x is None else whole(solved.x)
        met = [whole(x) for x in solved.met]
        return replace(solved, x=x, objective=solved.objective + rest, bound=solved.bound + rest, met=met)


def _joined(columns: list[np.ndarray], values: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    start = np.zeros(len(columns) + 1, dtype=np.int32)
    np.cumsum([len(c) for c in columns], out=start[1:])
    if not columns:
        return start, np.zeros(0, dtype=np.int32), np.zeros(0)
    return start, np.concatenate(columns).astype(np.int32), np.concatenate(values).astype(float)


def _below(matrix: csr_array, start: np.ndarray, index: np.ndarray, value: np.ndarray, columns: int) -> csr_array:
    """With more rows: put together from the arrays, since masters grow by a few rows many times."""
    whole = (
        np.concatenate([matrix.data, value]),
        np.concatenate([matrix.indices, index]),
        np.concatenate([matrix.indptr, matrix.indptr[-1] + start[1:]]),
    )
    return csr_array(whole, shape=(len(whole[2]) - 1, columns))
