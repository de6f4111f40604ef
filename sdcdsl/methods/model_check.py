"""A release put into the model it is said to solve: its values in the model's own rows, bounds and objective.

Accelerators are other programs for the same problem. Their word is not taken for it: before an audit sees a release,
the values that the decision variables have in it are put into the model, and what it costs is worked out by the model's
own expression. Witness tables are no part of this: the audit finds one for every level, and proves it by arithmetic.
That part of a model grows with the cells only, so that every release is looked at, at any size.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from sdcdsl.bind.problem import TableProblem
from sdcdsl.methods.definition import Definition
from sdcdsl.methods.incumbents import Incumbents
from sdcdsl.methods.result import NoRelease, Result, SolveContext
from sdcdsl.solve.modelling import Numbers, family_of_row, in_columns, name_of_column, numbers
from sdcdsl.solve.solving import TOLERANCE, nearest_completion, shortfalls
from sdcdsl.status import FAILED

if TYPE_CHECKING:
    import linopy

Solve = Callable[[TableProblem, SolveContext], Result]
CHECK = "check"  # the phase whose seconds this is counted in
SAME = 1e-6  # of a cost
CANCELLED = 1e-9  # of the terms of a cost, where they nearly cancel
DIGITS = 8 * np.finfo(float).eps  # of the largest value: what widths and deviations lose when they are read off ends
ENDLESS = 1e100  # in place of a width without end


def checked(problem: TableProblem, definition: Definition, result: Result, context: SolveContext) -> Result:
    """The result itself, or a failure that says what its release and the model disagree about."""
    if result.pattern is None:
        return result
    began = perf_counter()
    why = disagreement(problem, definition, result, context)
    seconds = {**result.seconds, CHECK: perf_counter() - began}
    if why is None:
        return replace(result, seconds=seconds)
    said = f"the accelerator and the model disagree, and nothing is released: {why}"
    return Result(FAILED, seconds=seconds, notes=(*result.notes, said), timed=result.timed)


def held_against(definition: Definition, solve: Solve) -> Solve:
    """An accelerator of which nothing gets out that the model has not seen: neither its result, nor what it has in hand
    when it is given up."""

    def found(problem: TableProblem, context: SolveContext) -> Result:
        handed = CheckedIncumbents(context.incumbents, lambda made: checked(problem, definition, made, context))
        return checked(problem, definition, solve(problem, replace(context, incumbents=handed)), context)

    return found


class CheckedIncumbents(Incumbents):
    """Passes on what is offered, to be checked when it is required."""

    def __init__(self, into: Incumbents, check: Callable[[Result], Result]):
        super().__init__()
        self._into, self._check = into, check

    def offer(self, objective: float, make: Callable[[], Result | None], last: bool = False) -> None:
        def made() -> Result | None:
            result = make()
            return None if result is None else self._check(result)

        self._into.offer(objective, made, last)

    def bounded(self, bound: float | None) -> None:
        self._into.bounded(bound)

    def best_first(self) -> Iterator[Result]:
        return self._into.best_first()


def disagreement(problem: TableProblem, definition: Definition, result: Result, context: SolveContext) -> str | None:
    """What of a result contradicts the model, in a sentence."""
    try:
        model, values = model_of_release(problem, definition, result, context)
    except NoRelease as error:
        return str(error)
    seen = numbers(model)
    x = in_columns(model, values) * seen.unit
    x = np.where(np.isposinf(x), ENDLESS, np.where(np.isneginf(x), -ENDLESS, x))
    off = np.abs(problem.dataset["a"].values).max(initial=0.0) * DIGITS
    x = np.where(seen.integer & (np.abs(x - np.round(x)) <= off), np.round(x), x)
    if np.isnan(x).any():
        x = nearest_completion(seen, x)
    return _missed(model, seen, x, np.where(seen.integer, 0.0, off * seen.unit)) or _misstated(result, seen, x)


def model_of_release(
    problem: TableProblem, definition: Definition, result: Result, context: SolveContext
) -> tuple[linopy.Model, dict[str, np.ndarray]]:
    """Methods that give up an option on the way (soft totals, further multiples) say of which model."""
    own = getattr(definition, "model_of_release", None)
    if own is not None:
        return own(problem, result, context)
    return definition.model(problem, context, False), definition.decisions(problem, result, context)


def _missed(model: linopy.Model, seen: Numbers, x: np.ndarray, lost: np.ndarray) -> str | None:
    """Whole numbers, bounds and rows."""
    if (x[seen.integer] != np.round(x[seen.integer])).any():
        at = np.flatnonzero(seen.integer & (x != np.round(x)))[0]
        return f"{name_of_column(model, int(at))} should be a whole number and is {x[at]:.9g}"
    rows, bounds = shortfalls(seen, x, lost)
    if bounds.max(initial=0.0) > TOLERANCE:
        at = int(bounds.argmax())
        return f"{name_of_column(model, at)} = {x[at] / seen.unit[at]:.9g} is outside its bounds"
    if rows.max(initial=0.0) > TOLERANCE:
        at = int(rows.argmax())
        return f"`{family_of_row(model, at)}` is missed by {rows[at]:.1e} of the largest term"
    return None


def _misstated(result: Result, seen: Numbers, x: np.ndarray) -> str | None:
    """The cost, and a bound above it."""
    if result.objective is None:
        return "no cost is stated"
    cost = seen.objective(x)
    size = float(np.abs(seen.cost) @ np.abs(x)) / seen.objective_unit + abs(seen.constant)
    slack = SAME * max(abs(cost), abs(result.objective)) + CANCELLED * size
    if not abs(cost - result.objective) <= slack:
        return f"a cost of {result.objective:.9g} is stated, and the release costs {cost:.9g}"
    if result.bound is not None and not result.bound <= cost + slack:
        return f"a bound of {result.bound:.9g} is stated for a release that costs {cost:.9g}"
    return None
