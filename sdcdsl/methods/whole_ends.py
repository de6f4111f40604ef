"""Intervals of counts end at counts: readers round ends inwards, and what lies between two of them protects nobody.

The ends of a search are moved outwards to whole numbers. Every table that was possible stays so, and of the tables of
whole numbers none is lost to rounding. An interval that may not be so wide (`cap_width`) stays as it is, and the audit
tells what readers make of it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sdcdsl.bind.problem import TableProblem
from sdcdsl.methods.definition import Definition
from sdcdsl.methods.result import Result, SolveContext
from sdcdsl.pattern.pattern import INTERVAL
from sdcdsl.status import FEASIBLE, OPTIMAL

HAIR = 1e-6  # what a search adds to the widths that it needs, at most


def with_whole_ends(problem: TableProblem, definition: Definition, result: Result, context: SolveContext) -> Result:
    pattern = result.pattern
    a = problem.dataset["a"].values
    if pattern is None or not problem.dataset.attrs.get("whole", 0):
        return result
    low, high = np.floor(pattern.low + HAIR), np.ceil(pattern.high - HAIR)
    widest = context.options.get("cap_width")
    narrow = np.inf if widest is None else np.nan_to_num(np.asarray(widest, dtype=float), nan=np.inf)
    moved = (pattern.status == INTERVAL) & (a == np.round(a)) & (high - low <= narrow) & (high > low)
    if not moved.any():
        return result
    released = replace(pattern, low=np.where(moved, low, pattern.low), high=np.where(moved, high, pattern.high))
    cost = definition.objective(problem, released, context)
    gap = context.options.get("gap") or 0.0
    proved = result.bound is not None and cost <= result.bound * (1 + gap) + HAIR * max(abs(cost), 1.0)
    status = FEASIBLE if result.status == OPTIMAL and not proved else result.status
    return replace(result, status=status, pattern=released, objective=cost)
