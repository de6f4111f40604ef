"""Controlled rounding by cutting planes: nearest multiples first, then multiples further away."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sdcdsl.accelerate.forms.solving import solve_shape
from sdcdsl.accelerate.rounding.heuristics import Finder
from sdcdsl.bind.problem import TableProblem
from sdcdsl.methods.result import Result, SolveContext
from sdcdsl.methods.rounding.model import shape
from sdcdsl.status import INFEASIBLE, LIMIT

MOST_STEPS = 3  # tried beyond what is asked for, where nothing nearer exists
SHARE = 0.4  # of the time that is left, for multiples so near while there may be some further away
ENDLESS = 120.0  # seconds for the same where there is no limit


def solve(problem: TableProblem, context: SolveContext) -> Result:
    asked = int(context.options.get("steps") or 0)
    tried: list[Result] = []
    for steps in range(asked, asked + MOST_STEPS + 1):
        made = shape(problem, {**context.options, "steps": steps})
        finder = Finder(made.forms, context.seed)
        left = context.deadline.remaining
        patience = context.deadline.within(SHARE * left if np.isfinite(left) else ENDLESS)
        last = steps == asked + MOST_STEPS
        result = solve_shape(made, context, finder, None if last else patience)
        if result.pattern is not None:
            return _further(result, steps, tried) if tried else result
        tried.append(result)
        if result.status not in (INFEASIBLE, LIMIT) or result.notes or context.deadline.expired:
            break
    last = tried[-1]
    decided = all(result.status == INFEASIBLE for result in tried)
    if not decided:
        return last if last.status != INFEASIBLE else replace(last, status=LIMIT)
    far = f"tried: values up to {len(tried) + asked} bases away"
    return replace(last, notes=(*last.notes, far))


def _further(result: Result, steps: int, tried: list[Result]) -> Result:
    """Values further away than was asked for, because nothing nearer exists or was found."""
    known = all(one.status == INFEASIBLE for one in tried)
    why = "no table of nearer multiples keeps the levels" if known else "no table of nearer multiples was found in time"
    note = f"{why}: values may be up to {1 + steps} bases away, and the release says so"
    return replace(result, notes=(*result.notes, note), facts={**result.facts, "steps": steps})
