"""The definition of controlled rounding: nearest multiples first, then multiples further away.

A table may have no rounding to the nearest multiples, even without levels (2 × 2 × 2 is enough). Then `steps` grows
until there is one, and the release says how far values may be off.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from sdcdsl.bind.problem import TableProblem
from sdcdsl.deadline import Deadline
from sdcdsl.methods.by_model import by_model
from sdcdsl.methods.forms.model import FormsModel
from sdcdsl.methods.result import Result, SolveContext
from sdcdsl.methods.rounding import small_counts
from sdcdsl.methods.rounding.model import shape
from sdcdsl.methods.tuning import TUNING
from sdcdsl.pattern import Pattern
from sdcdsl.status import INFEASIBLE, LIMIT

if TYPE_CHECKING:
    import linopy


class RoundingModel(FormsModel):
    """With `below` the model of small counts, which has no witness tables and one way to a release."""

    def model(self, problem: TableProblem, context: SolveContext, witnesses: bool = True) -> linopy.Model:
        if context.options.get("below") is not None:
            return small_counts.model(small_counts.leaves(problem, context.options))
        return super().model(problem, context, witnesses)

    def pattern(self, problem: TableProblem, values: Mapping[str, np.ndarray], context: SolveContext) -> Pattern:
        if context.options.get("below") is not None:
            return small_counts.pattern(small_counts.leaves(problem, context.options), np.round(values["up"]))
        return super().pattern(problem, values, context)

    def objective(self, problem: TableProblem, released: Pattern, context: SolveContext) -> float:
        if context.options.get("below") is not None:
            return small_counts.cost(problem, released)
        return super().objective(problem, released, context)

    def solve(self, problem: TableProblem, context: SolveContext) -> Result:
        def at(context: SolveContext, last: bool) -> Result:
            patient = context if last else replace(context, deadline=patience(context))
            return by_model(problem, self, patient)

        return nearest_first(context, at)

    def model_of_release(
        self, problem: TableProblem, result: Result, context: SolveContext
    ) -> tuple[linopy.Model, dict[str, np.ndarray]]:
        """Of values so many multiples away as the release says."""
        assert result.pattern is not None
        base = self.shape(problem, context.options).forms.at.base
        rounded = base > 0
        away = ((result.pattern.high - result.pattern.value)[rounded] / base[rounded]).max(initial=1.0)
        steps = int(np.rint(away)) - 1 if np.isfinite(away) else 0
        as_found = replace(context, options={**context.options, "steps": steps})
        return self.model(problem, as_found, False), self.decisions(problem, result, as_found)


DEFINITION = RoundingModel(shape)


def patience(context: SolveContext) -> Deadline:
    left = context.deadline.remaining
    return context.deadline.within(TUNING.nearest * left if left < float("inf") else TUNING.endless)


def nearest_first(context: SolveContext, solve: Callable[[SolveContext, bool], Result]) -> Result:
    """`solve(context, last)` for more and more steps, until there is a release."""
    least_steps = int(context.options.get("steps") or 0)
    tried: list[Result] = []
    for steps in range(least_steps, least_steps + TUNING.steps + 1):
        result = solve(
            replace(context, options={**context.options, "steps": steps}), steps == least_steps + TUNING.steps
        )
        if result.pattern is not None:
            return _further(result, steps, tried) if tried else result
        tried.append(result)
        if result.status not in (INFEASIBLE, LIMIT) or result.notes or context.deadline.expired:
            break
    last = tried[-1]
    decided = all(result.status == INFEASIBLE for result in tried)
    if not decided:
        return last if last.status != INFEASIBLE else replace(last, status=LIMIT)
    far = f"tried: values up to {len(tried) + least_steps} bases away"
    return replace(last, notes=(*last.notes, far))


def _further(result: Result, steps: int, tried: list[Result]) -> Result:
    """Values further away than was required, because nothing nearer exists or was found."""
    known = all(one.status == INFEASIBLE for one in tried)
    why = "no table of nearer multiples keeps the levels" if known else "no table of nearer multiples was found in time"
    note = f"{why}: values may be up to {1 + steps} bases away, and the release says so"
    return replace(result, notes=(*result.notes, note), facts={**result.facts, "steps": steps})
