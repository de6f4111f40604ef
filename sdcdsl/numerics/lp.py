"""A linear program in HiGHS, kept between solves: min (or max) c x, l ≤ x ≤ u, low ≤ A x ≤ high.

Costs, bounds and rows may change; the next solve starts from the last basis. Statuses are those of `sdcdsl.status`, by
one mapping for the whole program, and what a status does not stand for is not there to be read: `x` after a solve that
found none is whatever HiGHS left.

(HiGHS counts its time limit over all runs of a handle; `seconds` here are those of one solve.)
"""

from __future__ import annotations

from functools import cached_property
from math import inf
from typing import Any, TypeAlias

import highspy
import numpy as np

from sdcdsl.status import CUTOFF, FAILED, INFEASIBLE, INFEASIBLE_OR_UNBOUNDED, LIMIT, OPTIMAL, UNBOUNDED

DUAL, PRIMAL, INTERIOR_POINT = "dual simplex", "primal simplex", "interior point"
ALGORITHMS: dict[str, dict[str, Any]] = {
    DUAL: {"solver": "simplex", "simplex_strategy": 1},
    PRIMAL: {"solver": "simplex", "simplex_strategy": 4},
    INTERIOR_POINT: {"solver": "ipx"},
}
UNLIMITED = 2**31 - 1  # iterations
TOLERANCE = 1e-7  # HiGHS's own default

_Ended = highspy.HighsModelStatus
STATUSES = {
    _Ended.kOptimal: OPTIMAL,
    _Ended.kModelEmpty: OPTIMAL,  # neither columns nor rows
    _Ended.kInfeasible: INFEASIBLE,
    _Ended.kUnbounded: UNBOUNDED,
    _Ended.kUnboundedOrInfeasible: INFEASIBLE_OR_UNBOUNDED,
    _Ended.kObjectiveBound: CUTOFF,
    _Ended.kObjectiveTarget: CUTOFF,
    _Ended.kTimeLimit: LIMIT,
    _Ended.kIterationLimit: LIMIT,
    _Ended.kSolutionLimit: LIMIT,
    _Ended.kMemoryLimit: LIMIT,
    _Ended.kInterrupt: LIMIT,
}
TIMED = (_Ended.kTimeLimit, _Ended.kInterrupt)

Bounds = tuple[np.ndarray, np.ndarray]
Basis: TypeAlias = highspy.HighsBasis


class LinearProgram:
    def __init__(
        self,
        matrix: Any,
        *,
        cost: np.ndarray | None = None,
        bounds: Bounds | None = None,
        rows: Bounds | None = None,
        maximise: bool = False,
        algorithm: str = DUAL,
        presolve: bool = False,
        primal_tolerance: float = TOLERANCE,
        dual_tolerance: float = TOLERANCE,
    ):
        """`matrix` is sparse; what is not given is zero. Presolve costs more than most small programs take."""
        columns = matrix.tocsc()
        height, width = (int(length) for length in columns.shape)
        lp = highspy.HighsLp()
        lp.num_col_, lp.num_row_ = width, height
        lp.sense_ = highspy.ObjSense.kMaximize if maximise else highspy.ObjSense.kMinimize
        lp.col_cost_ = np.zeros(width) if cost is None else cost
        lp.col_lower_, lp.col_upper_ = (np.zeros(width), np.zeros(width)) if bounds is None else bounds
        lp.row_lower_, lp.row_upper_ = (np.zeros(height), np.zeros(height)) if rows is None else rows
        lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        lp.a_matrix_.start_, lp.a_matrix_.index_, lp.a_matrix_.value_ = columns.indptr, columns.indices, columns.data
        self._highs: Any = highspy.Highs()
        self._options: dict[str, Any] = {}
        self._ended = _Ended.kNotset
        self._set(
            output_flag=False,
            threads=1,
            presolve="choose" if presolve else "off",
            primal_feasibility_tolerance=primal_tolerance,
            dual_feasibility_tolerance=dual_tolerance,
            **ALGORITHMS[algorithm],
        )
        self._highs.passModel(lp)

    # ---- changes -------------------------------------------------------------------------------------------------

    def change_costs(self, cost: np.ndarray, columns: np.ndarray | None = None) -> None:
        """Of these columns, or of all."""
        which = self._every if columns is None else columns.astype(np.int32, copy=False)
        self._highs.changeColsCost(len(which), which, cost)

    def change_bounds(self, low: np.ndarray, high: np.ndarray, columns: np.ndarray | None = None) -> None:
        which = self._every if columns is None else columns.astype(np.int32, copy=False)
        self._highs.changeColsBounds(len(which), which, low, high)

    def change_column(self, column: int, cost: float, low: float, high: float) -> None:
        self._highs.changeColCost(column, cost)
        self._highs.changeColBounds(column, low, high)

    def add_rows(
        self, low: np.ndarray, high: np.ndarray, start: np.ndarray, index: np.ndarray, value: np.ndarray
    ) -> None:
        """Compressed rows: `start` has one entry a row, and may have a last one."""
        self._highs.addRows(len(low), low, high, len(index), start[: len(low)], index, value)

    def add_column(self, cost: float, low: float, high: float, rows: np.ndarray, value: np.ndarray) -> None:
        self._highs.addCol(cost, low, high, len(rows), rows.astype(np.int32, copy=False), value.astype(float))
        self.__dict__.pop("_every", None)

    def delete_rows(self, gone: np.ndarray) -> None:
        """`gone` bool [row]. Where no deleted row was tight, the next solve still starts from the last basis."""
        basis = self._highs.getBasis()
        self._highs.deleteRows(int(gone.sum()), np.flatnonzero(gone).astype(np.int32))
        status, columns = list(basis.row_status), list(basis.col_status)
        kept = [status[i] for i in np.flatnonzero(~gone)]
        basic = highspy.HighsBasisStatus.kBasic
        if basis.valid and kept.count(basic) + columns.count(basic) == len(kept):
            basis.row_status = kept
            self._highs.setBasis(basis)

    def forget(self) -> None:
        """The next solve starts from nothing."""
        self._highs.clearSolver()

    # ---- solves --------------------------------------------------------------------------------------------------

    def solve(
        self,
        *,
        seconds: float = inf,
        iterations: int | None = None,
        algorithm: str | None = None,
        cutoff: float = inf,
    ) -> str:
        """How it ended. `iterations` of the simplex method; `cutoff`: the dual simplex method stops once the optimum is
        known to be no better. `algorithm` holds for later solves, too."""
        highs = self._highs
        if algorithm is not None:
            self._set(**ALGORITHMS[algorithm])
        self._set(
            time_limit=seconds if seconds == inf else highs.getRunTime() + max(seconds, 0.0),
            simplex_iteration_limit=UNLIMITED if iterations is None else iterations,
            objective_bound=cutoff,
        )
        self.__dict__.pop("_answer", None)
        highs.run()
        self._ended = highs.getModelStatus()
        return self.status

    @property
    def status(self) -> str:
        return STATUSES.get(self._ended, FAILED)

    @property
    def timed(self) -> bool:
        """Whether time ended the last solve."""
        return self._ended in TIMED

    @property
    def message(self) -> str:
        """HiGHS's word for how the last solve ended."""
        return self._highs.modelStatusToString(self._ended)

    @cached_property
    def _answer(self) -> Any:
        return self._highs.getSolution()

    @property
    def x(self) -> np.ndarray:
        return np.array(self._answer.col_value)

    @property
    def row_values(self) -> np.ndarray:
        return np.array(self._answer.row_value)

    @property
    def dual(self) -> np.ndarray:
        """Of the rows."""
        return np.array(self._answer.row_dual)

    @property
    def objective(self) -> float:
        return self._highs.getInfo().objective_function_value

    @property
    def iterations(self) -> int:
        """Of the simplex method, in the last solve."""
        return max(self._highs.getInfo().simplex_iteration_count, 0)

    @property
    def basis(self) -> Basis:
        return self._highs.getBasis()

    @basis.setter
    def basis(self, basis: Basis) -> None:
        self._highs.setBasis(basis)

    def primal_ray(self) -> np.ndarray | None:
        """After UNBOUNDED: a direction in which the objective gets better without end."""
        _, known, ray = self._highs.getPrimalRay()
        return np.array(ray, dtype=float) if known else None

    def dual_ray(self) -> np.ndarray | None:
        """After INFEASIBLE: multipliers of the rows that say why."""
        _, known, ray = self._highs.getDualRay()
        return np.array(ray, dtype=float) if known else None

    @cached_property
    def _every(self) -> np.ndarray:
        return np.arange(self._highs.getNumCol(), dtype=np.int32)

    def _set(self, **options: Any) -> None:
        """Only what is not so already: programs are solved thousands of times."""
        for option, value in options.items():
            if self._options.get(option) != value:
                self._highs.setOptionValue(option, value)
                self._options[option] = value
