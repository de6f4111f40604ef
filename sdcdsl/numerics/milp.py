"""A mixed-integer program that is solved once: min c x, l ≤ x ≤ u, low ≤ A x ≤ high, some x integer; on HiGHS.

Searches solve hundreds of small ones, so the model is handed over as it stands, with both sides of a row in one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf, isfinite
from typing import Any

import highspy
import numpy as np
from scipy.sparse import csr_array

from sdcdsl.numerics.integrality import run_twice, whole_ends
from sdcdsl.numerics.lp import STATUSES, TIMED, TOLERANCE
from sdcdsl.status import FAILED, FEASIBLE, INFEASIBLE, INFEASIBLE_OR_UNBOUNDED, LIMIT, OPTIMAL

INTEGER_TOLERANCE = 1e-6  # HiGHS's own default
FEASIBLE_POINT = 2  # of HiGHS's `primal_solution_status`
MOMENT = 0.01  # the shortest limit that HiGHS is given


@dataclass(frozen=True, eq=False)
class Integral:
    status: str  # feasible: a solution within no gap that was required
    x: np.ndarray | None
    objective: float
    bound: float  # inf if nothing is feasible
    met: list[np.ndarray] = field(default_factory=list)  # solutions that were found on the way
    more: bool = True  # whether more time might find more
    timed: bool = False  # a deadline ended it


@dataclass(frozen=True, eq=False)
class MixedIntegerProgram:
    cost: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    integer: np.ndarray  # bool [column]
    A: csr_array
    low: np.ndarray  # [row]
    high: np.ndarray

    def solve(
        self,
        *,
        start: np.ndarray | None = None,
        start_columns: np.ndarray | None = None,
        gap: float = 0.0,
        absolute_gap: float = 0.0,
        seconds: float = inf,
        over: Callable[[], bool] | None = None,
        in_programs: bool = False,
        nodes: int | None = None,
        seed: int = 0,
        threads: int = 1,
        presolve: bool = True,
        heuristics: bool = True,
        offset: float = 0.0,
        primal_tolerance: float = TOLERANCE,
        dual_tolerance: float = TOLERANCE,
        integer_tolerance: float = INTEGER_TOLERANCE,
    ) -> Integral:
        """`start`: of all columns or of `start_columns`. `gap` is a share of the objective and `offset` together,
        `absolute_gap` an amount: what is within either is as good as the best. `seconds` are on the wall, which other
        work on the machine must not make shorter: `over` is asked now and then (in linear programs, too, if
        `in_programs`) whether it is enough, by any measure of time. With presolve, an answer that there is no solution
        is only believed when it comes a second time, without."""
        highs: Any = highspy.Highs()
        for option, value in {
            "output_flag": False,
            "threads": threads,
            "presolve": "choose" if presolve else "off",
            "primal_feasibility_tolerance": primal_tolerance,
            "dual_feasibility_tolerance": dual_tolerance,
            "mip_feasibility_tolerance": integer_tolerance,
            "mip_rel_gap": gap,
            "mip_abs_gap": absolute_gap,
            "random_seed": seed,
            "time_limit": max(seconds, MOMENT),
        }.items():
            highs.setOptionValue(option, value)
        if nodes is not None:
            highs.setOptionValue("mip_max_nodes", nodes)
        if not heuristics:
            highs.setOptionValue("mip_heuristic_effort", 0.0)
        self._pass(highs, offset)
        _give_start(highs, start, start_columns)
        met = _listen(highs, over, in_programs)
        if threads != 1:  # one pool of threads serves the whole process, and refuses another number
            highs.resetGlobalScheduler(True)
        if presolve:
            run_twice(highs)
        else:
            highs.run()
        if threads != 1:
            highs.resetGlobalScheduler(True)
        return self._ended(highs, offset, met)

    def _pass(self, highs: Any, offset: float) -> None:
        lp = highspy.HighsLp()
        lp.num_col_, lp.num_row_ = len(self.cost), len(self.low)
        lp.col_cost_, lp.offset_ = self.cost, offset
        lp.col_lower_, lp.col_upper_ = whole_ends(self.integer, self.lower, self.upper)
        lp.row_lower_, lp.row_upper_ = self.low, self.high
        lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        lp.a_matrix_.start_ = self.A.indptr.astype(np.int32)
        lp.a_matrix_.index_ = self.A.indices.astype(np.int32)
        lp.a_matrix_.value_ = self.A.data.astype(float)
        highs.passModel(lp)
        every = np.arange(len(self.cost), dtype=np.int32)
        highs.changeColsIntegrality(len(every), every, self.integer.astype(np.uint8))

    def _ended(self, highs: Any, offset: float, met: list[np.ndarray]) -> Integral:
        ended, info = highs.getModelStatus(), highs.getInfo()
        status = STATUSES.get(ended, FAILED)
        bounded = bool(np.isfinite(self.lower).all() and np.isfinite(self.upper).all())
        if status == INFEASIBLE or (status == INFEASIBLE_OR_UNBOUNDED and bounded):
            return Integral(INFEASIBLE, None, inf, inf)
        found = info.primal_solution_status == FEASIBLE_POINT
        if status not in (OPTIMAL, LIMIT) or (status == OPTIMAL and not found):
            return Integral(FAILED, None, inf, -inf)
        bound = float(info.mip_dual_bound) - offset if isfinite(info.mip_dual_bound) else -inf
        x = np.array(highs.getSolution().col_value) if found else None
        objective = float(self.cost @ x) if x is not None else inf
        if status == LIMIT and x is not None:
            status = FEASIBLE
        return Integral(status, x, objective, bound, met, timed=ended in TIMED)


def _give_start(highs: Any, start: np.ndarray | None, columns: np.ndarray | None) -> None:
    if start is None:
        return
    if columns is not None:
        highs.setSolution(len(columns), columns.astype(np.int32), start)
        return
    known = highspy.HighsSolution()
    known.col_value = start.tolist()
    highs.setSolution(known)


def _listen(highs: Any, over: Callable[[], bool] | None, in_programs: bool) -> list[np.ndarray]:
    """Solutions as they are found. `over` may end the work."""
    met: list[np.ndarray] = []
    kinds = highspy.cb.HighsCallbackType

    def heard(kind: Any, message: Any, out: Any, into: Any, data: Any) -> None:
        if kind == kinds.kCallbackMipSolution:
            met.append(np.array(out.mip_solution))
        elif over is not None and over():
            into.user_interrupt = True

    highs.setCallback(heard, None)
    highs.startCallback(kinds.kCallbackMipSolution)
    if over is not None:
        highs.startCallback(kinds.kCallbackMipInterrupt)
        if in_programs:
            highs.startCallback(kinds.kCallbackSimplexInterrupt)
    return met
