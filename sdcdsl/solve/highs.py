"""HiGHS, the default. No MIQP: asked for one it answers without an error and without a solution, which is why backends
declare what they can. Its callback for lazy cuts exists and is never called.

The handle is filled from the matrices of a linopy model, as linopy's own direct way does; that one announces itself on
standard output before it can be told not to.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sdcdsl.numerics.integrality import run_twice, uncounted, whole_ends
from sdcdsl.solve.backend import BackendAnswer, Can, Ending
from sdcdsl.solve.limits import SolveLimits
from sdcdsl.solve.modelling import Numbers, numbers
from sdcdsl.status import CUTOFF, FAILED, INFEASIBLE, INFEASIBLE_OR_UNBOUNDED, LIMIT, OPTIMAL, UNBOUNDED
from sdcdsl.vocabulary.backends import Backend

if TYPE_CHECKING:
    import linopy

_ENDINGS = {
    OPTIMAL: Ending.OPTIMAL,
    INFEASIBLE: Ending.INFEASIBLE,
    UNBOUNDED: Ending.UNBOUNDED,
    INFEASIBLE_OR_UNBOUNDED: Ending.UNBOUNDED_OR_INFEASIBLE,
    LIMIT: Ending.LIMIT,
    CUTOFF: Ending.LIMIT,
    FAILED: Ending.FAILED,
}

NO_LIMITS = SolveLimits()


class Highs:
    name = "highs"
    can = Can.LP | Can.MIP | Can.QP | Can.TIME_LIMIT | Can.DETERMINISTIC

    def missing(self) -> str | None:
        return None

    def ask(self, model: linopy.Model, limits: SolveLimits) -> BackendAnswer:
        return self.ask_for(numbers(model), limits)

    def ask_for(self, seen: Numbers, limits: SolveLimits = NO_LIMITS) -> BackendAnswer:
        h = handle(seen)
        for option, value in options(limits).items():
            h.setOptionValue(option, value)
        return run(h, bool(counted(seen).any()), seen.Q is not None)

    def with_integers_fixed(self, seen: Numbers, x: np.ndarray) -> np.ndarray | None:
        """The best values of the other columns."""
        h = handle(seen, fixed=x)
        answer = run(h, integer=False, quadratic=seen.Q is not None)
        return None if answer.values is None else np.where(seen.integer, x, answer.values)


BACKEND = Backend("highs", "HiGHS, which sdcdsl brings along", Highs)


def options(limits: SolveLimits) -> dict[str, Any]:
    """Limits in HiGHS's words. Gaps of HiGHS are loose by default (1e-4), and an absolute one stands beside them."""
    out: dict[str, Any] = {"mip_rel_gap": limits.gap, "mip_abs_gap": 0.0, "random_seed": limits.seed % 2**31}
    if limits.time is not None:
        out["time_limit"] = max(limits.time, 0.0)
    if limits.threads is not None:
        out["threads"] = limits.threads
    return out


def counted(seen: Numbers) -> np.ndarray:
    """bool [column]: whole, and not too far for HiGHS; the others are checked when its answer is."""
    return seen.integer & ~uncounted(seen.integer, seen.low, seen.high, seen.row_low, seen.row_high)


def handle(seen: Numbers, fixed: np.ndarray | None = None) -> Any:
    """A silent HiGHS with this model in it; `fixed`: integer columns stay at these values."""
    import highspy  # noqa: PLC0415

    h: Any = highspy.Highs()
    h.setOptionValue("output_flag", False)
    # Big bounds times the tolerance of integers is what leaks through a cell that is not hidden.
    h.setOptionValue("mip_feasibility_tolerance", 1e-9)
    h.setOptionValue("primal_feasibility_tolerance", 1e-9)
    low, high = whole_ends(seen.integer, seen.low, seen.high)
    if fixed is not None:
        low, high = np.where(seen.integer, fixed, low), np.where(seen.integer, fixed, high)
    h.addVars(seen.n, low, high)
    h.changeColsCost(seen.n, np.arange(seen.n, dtype=np.int32), seen.cost)
    whole = np.flatnonzero(counted(seen)).astype(np.int32)
    if len(whole) and fixed is None:
        h.changeColsIntegrality(len(whole), whole, np.full(len(whole), 1, dtype=np.uint8))
    A, rows = seen.A, len(seen.row_low)
    if rows:
        h.addRows(rows, seen.row_low, seen.row_high, A.nnz, A.indptr, A.indices, A.data)
    if seen.Q is not None:
        from scipy.sparse import triu  # noqa: PLC0415

        upper = triu(seen.Q).tocsr()
        h.passHessian(seen.n, upper.nnz, 1, upper.indptr, upper.indices, upper.data)
    if seen.maximise:
        h.changeObjectiveSense(highspy.ObjSense.kMaximize)
    return h


def run(h: Any, integer: bool, quadratic: bool) -> BackendAnswer:
    import highspy  # noqa: PLC0415

    from sdcdsl.numerics.lp import STATUSES  # noqa: PLC0415
    from sdcdsl.numerics.milp import FEASIBLE_POINT  # noqa: PLC0415

    # One pool of threads serves the whole process, and refuses another number: neither what ran before nor what runs
    # afterwards may depend on ours.
    highspy.Highs.resetGlobalScheduler(True)
    if integer:
        run_twice(h)
    else:
        h.run()
    highspy.Highs.resetGlobalScheduler(True)
    ended = h.getModelStatus()
    ending = _ENDINGS[STATUSES.get(ended, FAILED)]
    info = h.getInfo()
    has_point = info.primal_solution_status == FEASIBLE_POINT and ending in (Ending.OPTIMAL, Ending.LIMIT)
    values = np.asarray(h.getSolution().col_value, dtype=float) if has_point else None
    bound = None
    if integer and ending in (Ending.OPTIMAL, Ending.LIMIT) and np.isfinite(info.mip_dual_bound):
        bound = float(info.mip_dual_bound)
    elif integer and ending is Ending.OPTIMAL:  # what is optimal has a bound: this is only known to be a solution
        ending = Ending.LIMIT
    elif not integer and not quadratic and ending is Ending.OPTIMAL:
        bound = float(info.objective_function_value)
    return BackendAnswer(ending, values, bound, f"HiGHS: {h.modelStatusToString(ended)}")
