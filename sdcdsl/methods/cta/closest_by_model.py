"""The method by its model alone: refusals, the model, once more with soft totals, and a table that adds up exactly.

A model with free senses or whole numbers and a norm with squares is a mixed-integer quadratic program. Backends that
solve none get outer approximation (Duran and Grossmann 1986): a mixed-integer linear program with tangents in place of
the squares, whose optimum is a bound; the quadratic program of its senses, which gives a table; tangents at both, and
again, until they meet. No senses come twice, so that it ends.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import isfinite
from time import monotonic

import numpy as np

from sdcdsl.bind.problem import TableProblem
from sdcdsl.deadline import Deadline
from sdcdsl.methods.cta.model import completed, deviations, model_of
from sdcdsl.methods.cta.refusals import decimals, far_enough, nowhere_to_go, sliding
from sdcdsl.methods.cta.settings import L1, L1L2, L2, LINF, Settings, published, settings_of
from sdcdsl.methods.instance import DOWN, UP
from sdcdsl.methods.modelling import RESULTS, limits
from sdcdsl.methods.result import Progress, Result, SolveContext
from sdcdsl.methods.result import gap as gap_of
from sdcdsl.methods.tuning import TUNING
from sdcdsl.solve import backend, solve
from sdcdsl.solve.backend import Can
from sdcdsl.solve.modelling import by_variable
from sdcdsl.status import FAILED, FEASIBLE, INFEASIBLE, LIMIT, OPTIMAL

LEAST_GAP = 1e-6  # what continuous problems are solved to; a gap of 0 means this
ADDS_UP = 1e-12  # of what a relation adds up
SAME = 1e-9  # relative: maxima that are the same but for rounding


@dataclass(frozen=True, eq=False)
class Closest:
    """Deviations of the closest table, or why there are none."""

    status: str
    z: np.ndarray | None = None
    bound: float | None = None
    note: str = ""


def closest_release(problem: TableProblem, context: SolveContext) -> Result:
    began, of = monotonic(), settings_of(problem, context.options)
    refused = sliding(problem)
    if refused is not None:
        return refused
    refused = nowhere_to_go(problem, of)
    table = Closest(INFEASIBLE) if refused is not None else closest(of, context)
    notes: tuple[str, ...] = ()
    penalty = context.options.get("soft_totals")
    if table.status == INFEASIBLE and penalty is not None:
        softer = of.with_soft_totals(float(penalty), problem, context.options)
        again = closest(softer, context) if nowhere_to_go(problem, softer) is None else table
        if again.z is not None:
            of, table = softer, again
            moved = int((softer.totals & (again.z != 0)).sum())
            notes = (f"no table keeps the totals: {moved} of them moved, at {penalty:g} times their cost",)
    seconds = {"model": monotonic() - began}
    if table.z is None:
        said = (table.note,) if table.note else ()
        return refused or Result(table.status, bound=table.bound, seconds=seconds, notes=said)
    z = _nearer(of, table.z, context) if of.norm == LINF and not of.integer else table.z
    if not far_enough(of, z):
        return Result(FAILED, seconds=seconds, notes=("a solution misses its levels",))
    objective = of.objective(z)
    bound = None if table.bound is None else min(table.bound, objective)
    proven = bound is not None and gap_of(objective, bound) <= _gap(context)
    notes = (*notes, *filter(None, [table.note]), *decimals(problem, of, z))
    released = published(problem, z)
    result = Result(OPTIMAL if proven else FEASIBLE, released, objective, bound, seconds, notes=notes)
    return completed(problem, result, context)


def _gap(context: SolveContext) -> float:
    return max(float(context.options.get("gap") or 0.0), LEAST_GAP)


def closest(of: Settings, context: SolveContext) -> Closest:
    """The closest table of the model, adding up exactly."""
    squares = of.norm in (L2, L1L2)
    undecided = of.integer or bool((of.of.open[:, DOWN] & of.of.open[:, UP]).any())
    name = context.options.get("backend") or "highs"
    able = backend(name).can
    if squares and undecided and Can.MIQP not in able:
        return _outer_approximation(of, context)
    table = _solved(of, _with_time_left(context))
    if table.status == FAILED and squares and not undecided:
        return _outer_approximation(of, context)  # linear programs where a quadratic one fails
    if table.z is None or of.integer:
        return table
    z = table.z
    # Bounds before binaries leak, and a solver of general convex programs has an objective within 1e-6 of the least and
    # deviations within 1e-3: the table of these senses is exact.
    rough = undecided or (squares and name != "highs")
    if rough or not _adds_up(of, z):
        again = _of_senses(of, z, context)
        if again is not None and (of.objective(again) <= of.objective(z) or not _adds_up(of, z)):
            z = again
    if _adds_up(of, z):
        return replace(table, z=z)
    linear = _of_senses(replace(of, norm=L1), z, context)
    if linear is None or not _adds_up(of, linear):
        return Closest(FAILED, bound=table.bound, note="the solver's table does not add up")
    note = f"the table that is closest in {of.norm} was not found: this one is the closest in L1"
    return Closest(FEASIBLE, linear, table.bound, note)


def _with_time_left(context: SolveContext) -> SolveContext:
    """Part of the time, so that the table of the senses that are found can be made exact."""
    left = context.deadline.remaining
    return replace(context, deadline=context.deadline.within(TUNING.closest * left)) if isfinite(left) else context


def _solved(
    of: Settings, context: SolveContext, tangents: list[np.ndarray] | None = None, by: str | None = None
) -> Closest:
    made = model_of(of, tangents)
    solution = solve(made, limits(context), by or context.options.get("backend") or "highs")
    status = RESULTS.get(solution.status, FAILED)
    if solution.values is None:
        return Closest(status, bound=solution.bound, note=solution.message if status == FAILED else "")
    return Closest(status, deviations(of, by_variable(made, solution.values)), solution.bound)


def _of_senses(of: Settings, z: np.ndarray, context: SolveContext) -> np.ndarray | None:
    """The closest table whose cells move the way they do in z: a linear or quadratic program, by HiGHS, which ends at
    exact bounds."""
    sense = np.where(z[of.of.cells] > 0, 1, -1).astype(np.int8)
    if not _adds_up(of, z):  # a table that does not add up is worth nothing, even in time
        context = replace(context, deadline=Deadline(max(context.deadline.remaining, TUNING.senses)))
    return _solved(replace(of, of=of.of.with_sense(sense)), context, by="highs").z


def _outer_approximation(of: Settings, context: SolveContext) -> Closest:
    points: list[np.ndarray] = []
    best, bound, gap = None, -np.inf, _gap(context)
    status = LIMIT
    for number in range(TUNING.tangents):
        master = _solved(of, context, points)
        if master.z is None:
            status = master.status if best is None else FEASIBLE
            break
        bound = bound if master.bound is None else max(bound, master.bound)
        tables = [master.z]
        if not of.integer and (exact := _of_senses(of, master.z, context)) is not None:
            tables.append(exact)
        for z in tables:
            if _adds_up(of, z) and (best is None or of.objective(z) < of.objective(best)):
                best = z
        objective = None if best is None else of.objective(best)
        context.report(Progress("outer approximation", objective, bound, f"{number + 1} rounds"))
        if objective is not None and gap_of(objective, bound) <= gap:
            status = OPTIMAL
            break
        points += tables
        if context.deadline.expired:
            break
    if best is None:
        return Closest(status if status != FEASIBLE else LIMIT, bound=bound if np.isfinite(bound) else None)
    return Closest(OPTIMAL if status == OPTIMAL else FEASIBLE, best, bound if np.isfinite(bound) else None)


def _nearer(of: Settings, z: np.ndarray, context: SolveContext) -> np.ndarray:
    """Of all tables with the largest deviations of z the one that is closest in L1: maxima leave most cells free to be
    anywhere below them."""
    size, inside = of.w * np.abs(z), of.sensitive
    largest = np.where(inside, size[inside].max(initial=0.0), size[~inside].max(initial=0.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        most = np.maximum(np.where(of.w > 0, largest / of.w, np.inf), np.abs(z))
    a = replace(of.of, low=np.maximum(of.of.low, -most), high=np.minimum(of.of.high, most))
    near = _of_senses(replace(of, norm=L1, of=a), z, context)
    if near is None or not _adds_up(of, near) or of.objective(near) > of.objective(z) * (1 + SAME):
        return z
    return near


def _adds_up(of: Settings, z: np.ndarray) -> bool:
    """Well within what the audit forgives: it takes sums of cells as the cells make them."""
    M = of.of.M
    return bool((np.abs(M @ z) <= ADDS_UP * (abs(M) @ np.abs(z))).all())
