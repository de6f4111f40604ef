"""Solvers that linopy knows, for models: what it can is taken from linopy, limits are mapped here.

None of them is needed, and most cost money. Where linopy names no option for a limit (`None` below), the backend does
not declare it.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from sdcdsl.solve.backend import BackendAnswer, Can, Ending
from sdcdsl.solve.limits import SolveLimits
from sdcdsl.solve.modelling import numbers
from sdcdsl.vocabulary.backends import Backend

if TYPE_CHECKING:
    import linopy

# What each solver calls time, gap, threads and seed.
OPTIONS: dict[str, tuple[str | None, str | None, str | None, str | None]] = {
    "highs": ("time_limit", "mip_rel_gap", None, "random_seed"),
    "scip": ("limits/time", "limits/gap", "parallel/maxnthreads", "randomization/randomseedshift"),
    "gurobi": ("TimeLimit", "MIPGap", "Threads", "Seed"),
    "cplex": ("timelimit", "mip.tolerances.mipgap", "threads", "randomseed"),
    "xpress": ("timelimit", "miprelstop", "threads", "randomseed"),
    "mosek": ("MSK_DPAR_OPTIMIZER_MAX_TIME", "MSK_DPAR_MIO_TOL_REL_GAP", "MSK_IPAR_NUM_THREADS", "MSK_IPAR_MIO_SEED"),
}
# Standard output belongs to the result of a command.
QUIET: dict[str, dict[str, Any]] = {
    "highs": {"output_flag": False},
    "scip": {"display/verblevel": 0},
    "gurobi": {"OutputFlag": 0},
    "xpress": {"outputlog": 0},
    "mosek": {"MSK_IPAR_LOG": 0},
}
SOLVES_MIQP = ("scip", "gurobi", "cplex", "xpress", "mosek")


class ThroughLinopy:
    def __init__(self, name: str):
        self.name = name

    @property
    def can(self) -> Can:
        from linopy.solver_capabilities import SolverFeature, solver_supports  # noqa: PLC0415

        can = Can.LP
        if solver_supports(self.name, SolverFeature.INTEGER_VARIABLES):
            can |= Can.MIP
        if solver_supports(self.name, SolverFeature.QUADRATIC_OBJECTIVE):
            can |= Can.QP
        if self.name in SOLVES_MIQP:
            can |= Can.MIQP
        if OPTIONS[self.name][0] is not None:
            can |= Can.TIME_LIMIT
        if OPTIONS[self.name][3] is not None:
            can |= Can.DETERMINISTIC
        return can

    def missing(self) -> str | None:
        import linopy  # noqa: PLC0415

        return None if self.name in linopy.available_solvers else f"the solver `{self.name}` is not installed here"

    def options(self, limits: SolveLimits) -> dict[str, Any]:
        stated = (limits.time, limits.gap, limits.threads, limits.seed)
        named = zip(OPTIONS[self.name], stated, strict=True)
        given = {option: value for option, value in named if option is not None and value is not None}
        return {**QUIET.get(self.name, {}), **given}

    def ask(self, model: linopy.Model, limits: SolveLimits) -> BackendAnswer:
        from linopy.solvers import Solver  # noqa: PLC0415

        try:
            solver = Solver.from_name(self.name, model=model, io_api="lp", options=self.options(limits))
            result = solver.solve()
        except Exception as error:  # whatever a foreign solver raises: licences, options, its own bugs
            return BackendAnswer(Ending.FAILED, message=f"{self.name}: {type(error).__name__}: {error}")
        condition = result.status.termination_condition.value
        message = f"{self.name}: {condition}"
        ending = _ENDINGS.get(condition, Ending.FAILED)
        values = None
        if result.solution is not None and ending in (Ending.OPTIMAL, Ending.LIMIT):
            primal = result.solution.primal
            values = primal[model.matrices.vlabels] if len(primal) else None
        bound = result.report.dual_bound if result.report is not None and numbers(model).integer.any() else None
        return BackendAnswer(ending, values, bound, message)


GUROBI = Backend("gurobi", "Gurobi, where it is installed", partial(ThroughLinopy, "gurobi"))
CPLEX = Backend("cplex", "CPLEX, where it is installed", partial(ThroughLinopy, "cplex"))
XPRESS = Backend("xpress", "Xpress, where it is installed", partial(ThroughLinopy, "xpress"))
MOSEK = Backend("mosek", "MOSEK, where it is installed", partial(ThroughLinopy, "mosek"))

_ENDINGS = {
    "optimal": Ending.OPTIMAL,
    "suboptimal": Ending.LIMIT,
    "imprecise": Ending.LIMIT,
    "time_limit": Ending.LIMIT,
    "iteration_limit": Ending.LIMIT,
    "terminated_by_limit": Ending.LIMIT,
    "user_interrupt": Ending.LIMIT,
    "resource_interrupt": Ending.LIMIT,
    "infeasible": Ending.INFEASIBLE,
    "unbounded": Ending.UNBOUNDED,
    "infeasible_or_unbounded": Ending.UNBOUNDED_OR_INFEASIBLE,
}
