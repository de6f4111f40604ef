"""What a choice of senses is, and a deadline for a share of the time."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf
from time import monotonic
from typing import Any

import numpy as np

from sdcdsl.deadline import Deadline

LEAST, FASTEST = 0.05, 50.0  # seconds of a deadline from which its rate can be told, and the largest rate


@dataclass(frozen=True, eq=False)
class Chosen:
    status: str  # optimal: within the gap; feasible; infeasible; limit; failed
    sense: np.ndarray | None = None  # int8 [p], -1 or 1
    z: np.ndarray | None = None
    objective: float | None = None
    bound: float | None = None  # proven
    violation: np.ndarray | None = None  # [p]: where nothing keeps the levels, how far the best found misses them
    facts: dict[str, Any] = field(default_factory=dict)


class ReservedShare(Deadline):
    """The time of another deadline, but for some that is kept for later; in whatever that deadline counts.

    Solvers count time on the wall. `rate` says how many seconds pass there while one passes here, as seen so far: 1 for
    a deadline on the wall, more for one that counts what a busy processor does for us."""

    def __init__(self, whole: Deadline, share: float = 1.0):
        super().__init__(None)
        self._whole = whole
        self._first = left = whole.remaining
        self._kept = 0.0 if left == inf else (1.0 - share) * left

    @property
    def remaining(self) -> float:
        return max(self._whole.remaining - self._kept, 0.0)

    def mark_time_dependent(self, decided: bool = True) -> None:
        super().mark_time_dependent(decided)
        self._whole.mark_time_dependent(decided)

    @property
    def rate(self) -> float:
        if isinstance(self._whole, ReservedShare):
            return self._whole.rate
        here = self._first - self._whole.remaining
        return min(max((monotonic() - self.started) / here, 1.0), FASTEST) if inf > here > LEAST else 1.0
