"""SCIP (`pyscipopt`, the extra `scip`): the second backend, and the one with cuts that are found while it runs.

`branch_and_cut` solves  min c x,  A x ≥ b,  Σ cut x ≥ rhs for all cuts of a family,  low ≤ x ≤ high,  some x whole,
where the family is too large to write down and `separate` finds its violated members. The family is a constraint
handler of SCIP's own kind: it cuts off solutions of relaxations where it can, and no candidate becomes an incumbent
that `separate` finds a violated cut for.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array

from sdcdsl.solve.backend import BackendAnswer, BackendRefused, Can, Ending
from sdcdsl.solve.limits import SolveLimits
from sdcdsl.solve.status import Solution, Status, gap
from sdcdsl.vocabulary.backends import Backend

if TYPE_CHECKING:
    import linopy

Cut = tuple[np.ndarray, np.ndarray, float]  # columns, coefficients, rhs:  Σ coefficient x ≥ rhs
Separate = Callable[[np.ndarray, bool], list[Cut]]
TOLERANCE = 1e-9
_ENDINGS = {
    "optimal": Ending.OPTIMAL,
    "gaplimit": Ending.OPTIMAL,
    "infeasible": Ending.INFEASIBLE,
    "unbounded": Ending.UNBOUNDED,
    "inforunbd": Ending.UNBOUNDED_OR_INFEASIBLE,
    "timelimit": Ending.LIMIT,
    "nodelimit": Ending.LIMIT,
    "totalnodelimit": Ending.LIMIT,
    "memlimit": Ending.LIMIT,
    "sollimit": Ending.LIMIT,
    "userinterrupt": Ending.LIMIT,
    "terminate": Ending.LIMIT,
}


class Scip:
    name = "scip"
    can = Can.LP | Can.MIP | Can.QP | Can.MIQP | Can.LAZY_CUTS | Can.TIME_LIMIT | Can.DETERMINISTIC

    def missing(self) -> str | None:
        try:
            import pyscipopt  # noqa: F401, PLC0415
        except ImportError:
            return "the backend `scip` needs the package pyscipopt: install sdcdsl[scip], or choose `backend highs`"
        return None

    def ask(self, model: linopy.Model, limits: SolveLimits) -> BackendAnswer:
        scip = _new(limits)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.lp"
            model.to_file(path, progress=False)
            try:
                scip.readProblem(str(path))
            except OSError as error:  # a column that stands in no row, say
                return BackendAnswer(Ending.FAILED, None, None, f"SCIP does not read the model: {error}")
        try:
            scip.optimize()
        except Exception as error:  # PySCIPOpt has no type of its own for what SCIP gives up at
            return BackendAnswer(Ending.FAILED, None, None, str(error))
        ending = _ENDINGS.get(scip.getStatus(), Ending.FAILED)
        message = f"SCIP: {scip.getStatus()}"
        bound = float(scip.getDualbound()) if ending in (Ending.OPTIMAL, Ending.LIMIT) else None
        if bound is not None and abs(bound) >= scip.infinity():
            bound = None
        if not scip.getNSols() or ending not in (Ending.OPTIMAL, Ending.LIMIT):
            return BackendAnswer(ending, None, bound, message)
        best = scip.getBestSol()
        by_name = {v.name: scip.getSolVal(best, v) for v in scip.getVars()}  # more than columns: of squares, too
        values = np.array([by_name.get(f"x{label}", np.nan) for label in model.matrices.vlabels])
        return BackendAnswer(ending, values, bound, message)


BACKEND = Backend("scip", "SCIP, by the package pyscipopt", Scip)


def branch_and_cut(
    cost: np.ndarray,
    lower: np.ndarray,
    upper: np.ndarray,
    integer: np.ndarray,
    rows: tuple[csr_array, np.ndarray],
    separate: Separate,
    limits: SolveLimits,
    *,
    start: np.ndarray | None = None,
    on_incumbent: Callable[[np.ndarray, float], None] | None = None,
    monotone: bool = False,
) -> Solution:
    """The best x that satisfies `rows` (A x ≥ b) and every cut of a family.

    `separate(x, integral)` gives cuts Σ coefficient x ≥ rhs that x violates; it is asked about solutions of relaxations
    and, with `integral`, about candidates, whose whole numbers are exact. It may pass over the former and must not pass
    over the latter: a candidate is accepted if nothing is found. Cuts violated by less than a billionth of their
    largest term are no reason to refuse one.

    `start`: an x to begin with, taken if it stands up to the same questions. `on_incumbent(x, objective)` hears of
    every new best. `monotone` promises that no cut has a negative coefficient, so that raising x never breaks one.
    """
    absent = Scip().missing()
    if absent is not None:
        raise BackendRefused(absent)
    begun = monotonic()
    scip = _new(limits)
    # The family is known to its handler only: nobody may conclude from the rows alone which solutions are alike.
    scip.setParams({"misc/usesymmetry": 0, "misc/allowstrongdualreds": False, "numerics/feastol": TOLERANCE})
    x = [
        scip.addVar(f"x{j}", "I" if whole else "C", _end(low), _end(high), float(c))
        for j, (low, high, c, whole) in enumerate(zip(lower, upper, cost, integer, strict=True))
    ]
    A, b = rows
    A = csr_array(A)
    for row in range(len(b)):
        mine = slice(A.indptr[row], A.indptr[row + 1])
        _add_row(scip, x, A.indices[mine], A.data[mine], float(b[row]))
    family = _family()(x, np.asarray(integer, dtype=bool), separate, monotone)
    # Behind the check of whole numbers (priority 0), and before it in separating.
    scip.includeConshdlr(
        family, "family", "cuts found on the way", enfopriority=-10, chckpriority=-10, sepapriority=10, sepafreq=1
    )
    scip.addPyCons(scip.createCons(family, "family", propagate=False))
    if on_incumbent is not None:
        scip.includeEventhdlr(_listener()(x, on_incumbent), "listener", "hears of every new best")
    if start is not None:
        offered = scip.createOrigSol()
        for variable, value in zip(x, start, strict=True):
            scip.setSolVal(offered, variable, float(value))
        scip.addSol(offered)
    scip.optimize()
    if family.error is not None:
        raise family.error
    return _solution(scip, x, np.asarray(integer, dtype=bool), cost, limits, begun)


def _solution(
    scip: Any, x: list[Any], integer: np.ndarray, cost: np.ndarray, limits: SolveLimits, begun: float
) -> Solution:
    ended, seconds = scip.getStatus(), monotonic() - begun
    ending, message = _ENDINGS.get(ended, Ending.FAILED), f"SCIP: {ended}"
    bound = float(scip.getDualbound())
    known = bound if abs(bound) < scip.infinity() else None
    if not scip.getNSols():
        status = {Ending.INFEASIBLE: Status.INFEASIBLE, Ending.LIMIT: Status.LIMIT}.get(ending, Status.FAILED)
        return Solution(status, None, known if status is Status.LIMIT else None, None, seconds, message)
    best = scip.getBestSol()
    values = np.array([scip.getSolVal(best, variable) for variable in x])
    values[integer] = np.round(values[integer])
    objective = float(cost @ values)
    if known is not None:
        known = min(known, objective)
    if ending not in (Ending.OPTIMAL, Ending.LIMIT):
        return Solution(Status.FAILED, seconds=seconds, message=message)
    proven = known is not None and gap(objective, known) <= limits.gap + 1e-6
    status = Status.OPTIMAL if proven else Status.FEASIBLE
    return Solution(status, objective, known, values, seconds, message)


def _new(limits: SolveLimits) -> Any:
    """A silent SCIP with the limits in its own words."""
    import pyscipopt  # noqa: PLC0415

    scip = pyscipopt.Model()
    scip.hideOutput()
    wall = 2
    options: dict[str, Any] = {
        "timing/clocktype": wall,
        "limits/gap": limits.gap,
        "randomization/randomseedshift": limits.seed % 2**31,
    }
    if limits.time is not None:
        options["limits/time"] = min(max(limits.time, 0.0), 1e20)
    if limits.threads is not None:
        options["lp/threads"] = min(limits.threads, 64)
        options["parallel/maxnthreads"] = min(limits.threads, 64)
    scip.setParams(options)
    return scip


def _end(bound: float) -> float | None:
    return float(bound) if np.isfinite(bound) else None


def _add_row(scip: Any, x: list[Any], columns: np.ndarray, coefficients: np.ndarray, rhs: float) -> None:
    import pyscipopt  # noqa: PLC0415

    terms = zip(coefficients.tolist(), columns.tolist(), strict=True)
    scip.addCons(pyscipopt.quicksum(c * x[j] for c, j in terms) >= rhs)


def _family() -> type:
    """The class is made late: its parent comes from a package that need not be there."""
    from pyscipopt.scip import PY_SCIP_RESULT as RESULT  # noqa: PLC0415
    from pyscipopt.scip import Conshdlr  # noqa: PLC0415

    class Family(Conshdlr):
        def __init__(self, x: list[Any], integer: np.ndarray, separate: Separate, monotone: bool):
            self.x, self.integer, self.separate, self.monotone = x, integer, separate, monotone
            self.error: Exception | None = None

        def _cuts(self, solution: Any, integral: bool) -> list[Cut]:
            values = np.array([self.model.getSolVal(solution, variable) for variable in self.x])
            if integral:
                values[self.integer] = np.round(values[self.integer])
            cuts = [cut for cut in self.separate(values, integral) if _violated(cut, values)]
            if self.monotone and any((coefficients < 0).any() for _, coefficients, _ in cuts):
                raise ValueError("a cut of a monotone family has a negative coefficient")
            return cuts

        def _guarded(self, act: Callable[[], int]) -> dict[str, int]:
            """An error must not get lost in SCIP: nothing is accepted any more, and it is raised in the end."""
            if self.error is not None:
                return {"result": RESULT.INFEASIBLE}
            try:
                return {"result": act()}
            except Exception as error:
                self.error = error
                self.model.interruptSolve()
                return {"result": RESULT.INFEASIBLE}

        def conscheck(self, constraints, solution, checkintegrality, checklprows, printreason, completely):
            return self._guarded(lambda: RESULT.INFEASIBLE if self._cuts(solution, True) else RESULT.FEASIBLE)

        def _enforce(self) -> int:
            cuts = self._cuts(None, True)
            for columns, coefficients, rhs in cuts:
                _add_row(self.model, self.x, columns, coefficients, rhs)
            return RESULT.CONSADDED if cuts else RESULT.FEASIBLE

        def consenfolp(self, constraints, nusefulconss, solinfeasible):
            return self._guarded(self._enforce)

        def consenfops(self, constraints, nusefulconss, solinfeasible, objinfeasible):
            return self._guarded(self._enforce)

        def conssepalp(self, constraints, nusefulconss):
            def act() -> int:
                cuts = self._cuts(None, False)
                for columns, coefficients, rhs in cuts:
                    row = self.model.createEmptyRowUnspec("cut", lhs=rhs, rhs=None, local=False)
                    self.model.cacheRowExtensions(row)
                    for j, c in zip(columns.tolist(), coefficients.tolist(), strict=True):
                        self.model.addVarToRow(row, self.x[j], c)
                    self.model.flushRowExtensions(row)
                    self.model.addCut(row, forcecut=True)
                    self.model.releaseRow(row)
                return RESULT.SEPARATED if cuts else RESULT.DIDNOTFIND

            out = self._guarded(act)
            return {"result": RESULT.DIDNOTRUN} if self.error is not None else out

        def conslock(self, constraint, locktype, nlockspos, nlocksneg):
            both = nlockspos + nlocksneg
            down, up = (nlockspos, nlocksneg) if self.monotone else (both, both)
            for variable in self.x:
                self.model.addVarLocksType(self.model.getTransformedVar(variable), locktype, down, up)

    return Family


def _violated(cut: Cut, x: np.ndarray) -> bool:
    columns, coefficients, rhs = cut
    terms = coefficients * x[columns]
    return rhs - float(terms.sum()) > TOLERANCE * max(abs(rhs), float(np.abs(terms).max(initial=0.0)))


def _listener() -> type:
    from pyscipopt.scip import PY_SCIP_EVENTTYPE as EVENT  # noqa: PLC0415
    from pyscipopt.scip import Eventhdlr  # noqa: PLC0415

    class Listener(Eventhdlr):
        def __init__(self, x: list[Any], tell: Callable[[np.ndarray, float], None]):
            self.x, self.tell = x, tell

        def eventinit(self):
            self.model.catchEvent(EVENT.BESTSOLFOUND, self)

        def eventexit(self):
            self.model.dropEvent(EVENT.BESTSOLFOUND, self)

        def eventexec(self, event):
            best = self.model.getBestSol()
            values = np.array([self.model.getSolVal(best, variable) for variable in self.x])
            self.tell(values, float(self.model.getSolObjVal(best)))

    return Listener
