"""What an answer is. A status means exactly one thing:

optimal      a checked solution, proven to be within the gap that was required
feasible     a checked solution; `gap` says how far from the best it may be, None: nothing is known
infeasible   there is no solution: the solver has proved it
unbounded    there are solutions, and their objectives have no end
limit        time (or another limit) ran out before anything was found
failed       anything else: errors, "unknown", and solutions that do not stand up to a check
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np


class Status(StrEnum):
    OPTIMAL = "optimal"
    FEASIBLE = "feasible"
    INFEASIBLE = "infeasible"
    UNBOUNDED = "unbounded"
    LIMIT = "limit"
    FAILED = "failed"


@dataclass(frozen=True, eq=False)
class Solution:
    status: Status
    objective: float | None = None
    bound: float | None = None  # no solution is better than this, as far as the solver knows
    values: np.ndarray | None = None  # one a column, in the model's own units; None: there is no solution
    seconds: float = 0.0
    message: str = ""  # in the solver's words, and why a solution was not taken for one

    @property
    def found(self) -> bool:
        return self.values is not None

    @property
    def gap(self) -> float | None:
        """How far the objective may be from the best, as a share of it."""
        if self.objective is None or self.bound is None:
            return None
        return gap(self.objective, self.bound)


def gap(objective: float, bound: float) -> float:
    """Of a solver's model, minimised or maximised: how far apart the two are, as a share of the larger one.
    (`methods.result.gap` is about costs, where a bound above the cost by rounding is no gap.)"""
    if objective == bound:
        return 0.0
    largest = max(abs(objective), abs(bound))
    return abs(objective - bound) / largest if np.isfinite(largest) else float("inf")
