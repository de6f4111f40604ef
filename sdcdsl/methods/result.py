"""What a method is given beside the problem, and what it gives back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

import numpy as np

from sdcdsl.executing import SERIAL, Team
from sdcdsl.methods.checkpoint import Keeping
from sdcdsl.pattern import Pattern

OPTIMAL, FEASIBLE, INFEASIBLE, LIMIT, FAILED = "optimal", "feasible", "infeasible", "limit", "failed"


@dataclass(frozen=True)
class Standing:
    """Where the search stands: shown while it runs."""

    phase: str
    objective: float | None = None
    bound: float | None = None
    note: str = ""


class Clock:
    """The time that is left, in seconds on the wall; `stop` may end the search from outside (Ctrl-C once). `struck`:
    time had a say in what was searched, so that another machine may go another way."""

    def __init__(self, limit: float | None = None):
        self.started = monotonic()
        self.limit = limit
        self.stop = False
        self.struck = False

    @property
    def passed(self) -> float:
        return monotonic() - self.started

    @property
    def left(self) -> float:
        if self.stop:
            return 0.0
        return float("inf") if self.limit is None else max(self.limit - self.passed, 0.0)

    @property
    def over(self) -> bool:
        over = self.left <= 0.0
        self.strike(over)
        return over

    def strike(self, decided: bool = True) -> None:
        """Something was decided by time."""
        self.struck |= decided

    def __reduce__(self) -> tuple[Any, ...]:
        """In another process it goes on with what is left; nobody there hears of `stop`."""
        return Clock, (None if self.left == float("inf") else self.left,)

    def part(self, seconds: float) -> Clock:
        """A clock for a part of the work: it ends after so many seconds, and never later than this one."""
        return _Part(self, seconds)


class _Part(Clock):
    """Counts what the whole counts, be it time on the wall or another."""

    def __init__(self, whole: Clock, limit: float):
        super().__init__(limit)
        self._whole, self._begun = whole, whole.passed

    @property
    def passed(self) -> float:
        return self._whole.passed - self._begun

    @property
    def left(self) -> float:
        return min(super().left, self._whole.left)

    def strike(self, decided: bool = True) -> None:
        super().strike(decided)
        self._whole.strike(decided)


@dataclass(frozen=True, eq=False)
class Order:
    """What a method is asked for beside the table problem."""

    options: dict[str, Any]  # of the method's dataclass in `vocabulary.methods`, as plain values
    clock: Clock = field(default_factory=Clock)
    seed: int = 0
    before: np.ndarray | None = None  # bool [cell]: not published as they were in the last period
    tell: Callable[[Standing], None] = lambda standing: None
    team: Team = SERIAL  # who may be asked for parts of the work
    keeping: Keeping = field(default_factory=Keeping)  # where a long search leaves what it knows


@dataclass(frozen=True)
class Clash:
    """A side no release of this kind can give what it needs: even with every cell open that may be."""

    pair: int
    side: int | None  # DOWN, UP, or None for both together
    need: float
    reach: float


@dataclass(frozen=True, eq=False)
class Result:
    """`optimal`: within the gap asked for; `feasible`: a valid release with a stated gap (the bound may be missing);
    `infeasible`: proved; `limit`: nothing was found in time; `failed`: a solver did not answer."""

    status: str
    pattern: Pattern | None = None
    objective: float | None = None
    bound: float | None = None
    seconds: dict[str, float] = field(default_factory=dict)  # by phase
    clashes: tuple[Clash, ...] = ()
    facts: dict[str, Any] = field(default_factory=dict)  # what the method has to say of its result, for the report
    notes: tuple[str, ...] = ()  # the same in sentences
    timed: bool = False  # time had a say: the same search may come to another release

    @property
    def gap(self) -> float | None:
        """How far the objective may be from the best, as a share of it."""
        if self.objective is None or self.bound is None:
            return None
        return gap(self.objective, self.bound)


def gap(objective: float, bound: float) -> float:
    if objective <= bound:
        return 0.0
    if objective == 0.0:
        return float("inf")
    return (objective - bound) / abs(objective)
