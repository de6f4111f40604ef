"""From a model to a solution that means what its status says.

Nobody's word is taken for it: values are put back into the rows and bounds of the model (relative to the terms of each
row), integers are made exact first. Where the rest does not fit exact integers, it is worked out again with the
integers fixed: a solver that accepts x = 0.999999 may have used the last millionth of a large bound.
"""

from __future__ import annotations

from dataclasses import replace
from time import monotonic
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array, hstack, identity

from sdcdsl.solve.backend import WORDS, BackendAnswer, BackendRefused, Can, Ending, Solver, backend
from sdcdsl.solve.highs import Highs
from sdcdsl.solve.limits import SolveLimits
from sdcdsl.solve.modelling import Numbers, needs, numbers
from sdcdsl.solve.status import Solution, Status, gap
from sdcdsl.vocabulary.backends import DEFAULT

if TYPE_CHECKING:
    import linopy

TOLERANCE = 1e-6  # of the largest term of a row
NEAR_WHOLE = 1e-4
NEAR_GAP = 1e-6  # gaps are shares of an objective that was rounded on its way


def refusal(model: linopy.Model, limits: SolveLimits, by: Solver) -> str | None:
    """Why a backend is not to be asked, in a sentence."""
    absent = by.missing()
    if absent is not None:
        return absent
    required = needs(model) | (Can.TIME_LIMIT if limits.time is not None else Can(0))
    lacking = [WORDS[part] for part in required & ~by.can]
    return f"the backend `{by.name}` has not declared that it can do this: {', '.join(lacking)}" if lacking else None


def solve(model: linopy.Model, limits: SolveLimits | None = None, by: str | Solver = DEFAULT) -> Solution:
    """Raises `BackendRefused` where nothing can be solved; every other mishap is a status."""
    limits = limits or SolveLimits()
    chosen = backend(by) if isinstance(by, str) else by
    why_not = refusal(model, limits, chosen)
    if why_not is not None:
        raise BackendRefused(why_not)
    begun = monotonic()
    answer = chosen.ask(model, limits)
    seen = numbers(model)
    doubtful = answer.ending is Ending.UNBOUNDED and seen.integer.any()  # of its relaxation, some solvers mean
    if answer.values is None and (answer.ending is Ending.UNBOUNDED_OR_INFEASIBLE or doubtful):
        answer = _resolved(model, limits, chosen, begun, answer)
    return replace(judged(seen, answer, limits), seconds=monotonic() - begun)


def _resolved(
    model: linopy.Model, limits: SolveLimits, by: Solver, begun: float, answer: BackendAnswer
) -> BackendAnswer:
    """Unbounded or infeasible? Without an objective it can only be infeasible."""
    without = model.copy()
    without.objective = 0 * without.objective.expression
    left = float("inf") if limits.time is None else limits.time - (monotonic() - begun)
    again = by.ask(without, limits.with_time(left))
    if again.ending is Ending.INFEASIBLE:
        return again
    if again.values is not None and judged(numbers(without), again, limits).found:
        return BackendAnswer(Ending.UNBOUNDED, message=answer.message)
    ending = Ending.LIMIT if again.ending is Ending.LIMIT else Ending.FAILED
    return BackendAnswer(ending, message=f"{answer.message}; not resolved: {again.message}")


def judged(seen: Numbers, answer: BackendAnswer, limits: SolveLimits) -> Solution:
    """The status of an answer."""
    if answer.values is None:
        status = {
            Ending.INFEASIBLE: Status.INFEASIBLE,
            Ending.UNBOUNDED: Status.UNBOUNDED,
            Ending.LIMIT: Status.LIMIT,
        }.get(answer.ending, Status.FAILED)
        bound = None if answer.bound is None else answer.bound / seen.objective_unit + seen.constant
        return Solution(status, bound=bound if status is Status.LIMIT else None, message=answer.message)
    if answer.ending not in (Ending.OPTIMAL, Ending.LIMIT):
        return Solution(Status.FAILED, message=answer.message)
    values, why_not = _checked(seen, answer.values)
    if values is None:
        return Solution(Status.FAILED, message=f"{answer.message}: {why_not}")
    objective = seen.objective(values)
    bound = _bound(seen, answer, limits, objective)
    proven = bound is not None and gap(objective, bound) <= limits.gap + NEAR_GAP
    status = Status.OPTIMAL if proven else Status.FEASIBLE
    return Solution(status, objective, bound, values / seen.unit, message=answer.message)


def _bound(seen: Numbers, answer: BackendAnswer, limits: SolveLimits, objective: float) -> float | None:
    way = -1.0 if seen.maximise else 1.0
    if answer.bound is not None:
        bound = answer.bound / seen.objective_unit + seen.constant
    elif answer.ending is Ending.OPTIMAL:  # a solver that names no bound means the gap it was given
        bound = objective - way * (limits.gap if seen.integer.any() else 0.0) * abs(objective)
    else:
        return None
    return bound if way * bound <= way * objective else objective


def _checked(seen: Numbers, values: np.ndarray) -> tuple[np.ndarray | None, str]:
    """Values with exact integers that satisfy everything, or why there are none."""
    if len(values) != seen.n or not np.isfinite(values).all():
        return None, "the solver gave no complete solution"
    x = values.copy()
    x[seen.integer] = np.round(x[seen.integer])
    if (np.abs(x - values) > NEAR_WHOLE).any():
        return None, "values that should be whole numbers are not"
    if violation(seen, x) <= TOLERANCE:
        return x, ""
    if not seen.integer.any():
        return None, f"rows or bounds are missed by {violation(seen, x):.1e} of their terms"
    again = Highs().with_integers_fixed(seen, x)
    if again is not None and violation(seen, again) <= TOLERANCE:
        return again, ""
    return None, "the solution does not survive the rounding of its whole numbers"


def violation(seen: Numbers, x: np.ndarray) -> float:
    """The largest violation of a row or bound, as a share of the largest term in it, or of 1."""
    rows, bounds = shortfalls(seen, x)
    return float(max(rows.max(initial=0.0), bounds.max(initial=0.0)))


def shortfalls(seen: Numbers, x: np.ndarray, lost: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """By how much each row and each bound is missed, as a share of the largest term in it, or of 1; at most 0 where it
    is kept. `lost` [column]: what values may be off because they were read off numbers with so many digits."""
    A = seen.A
    activity = A @ x
    largest = np.ones(len(activity))
    np.maximum.at(largest, np.repeat(np.arange(len(activity)), np.diff(A.indptr)), np.abs(A.data * x[A.indices]))
    rows = np.maximum(seen.row_low - activity, activity - seen.row_high)
    bounds = np.maximum(seen.low - x, x - seen.high)
    if lost is not None:
        rows, bounds = rows - abs(A) @ lost, bounds - lost
    return rows / largest, bounds / np.maximum(np.abs(x), 1.0)


def nearest_completion(seen: Numbers, x: np.ndarray) -> np.ndarray:
    """x with values in place of nan: those that miss the rows they stand in by the least, all in all."""
    unknown = np.flatnonzero(np.isnan(x))
    known = np.nan_to_num(x)
    A = seen.A[:, unknown]
    rows = np.flatnonzero(np.diff(csr_array(A).indptr))
    A, given = csr_array(A)[rows], (seen.A @ known)[rows]
    one, count = identity(len(rows), format="csr"), len(unknown)
    wide = 2 * len(rows)
    slack = Numbers(
        cost=np.concatenate([np.zeros(count), np.ones(wide)]),
        Q=None,
        low=np.concatenate([seen.low[unknown], np.zeros(wide)]),
        high=np.concatenate([seen.high[unknown], np.full(wide, np.inf)]),
        integer=np.zeros(count + wide, dtype=bool),
        A=csr_array(hstack([A, one, -one])),
        row_low=seen.row_low[rows] - given,
        row_high=seen.row_high[rows] - given,
        maximise=False,
        unit=np.ones(count + wide),
        objective_unit=1.0,
    )
    answer = Highs().ask_for(slack)
    out = known.copy()
    if answer.values is not None:
        out[unknown] = np.clip(answer.values[:count], seen.low[unknown], seen.high[unknown])
    return out
