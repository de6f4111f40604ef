"""What a method is given beside the problem, and what it gives back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sdcdsl.deadline import Deadline
from sdcdsl.executing import SERIAL, Team
from sdcdsl.methods.checkpoint import Checkpointer
from sdcdsl.methods.incumbents import Incumbents
from sdcdsl.pattern import Pattern
from sdcdsl.proof.witness import MoveMatrix


@dataclass(frozen=True)
class Progress:
    """Where the search stands: shown while it runs."""

    phase: str
    objective: float | None = None
    bound: float | None = None
    note: str = ""


@dataclass(frozen=True, eq=False)
class SolveContext:
    """What a method is given beside the table problem."""

    options: dict[str, Any]  # of the method's dataclass in `vocabulary.methods`, as plain values
    deadline: Deadline = field(default_factory=Deadline)
    seed: int = 0
    before: np.ndarray | None = None  # bool [cell]: not published as they were in the last period
    report: Callable[[Progress], None] = lambda progress: None
    team: Team = SERIAL  # who may be asked for parts of the work
    checkpointer: Checkpointer = field(default_factory=Checkpointer)  # where a long search leaves what it knows
    incumbents: Incumbents = field(default_factory=Incumbents)  # releases in hand, should the search not come back


@dataclass(frozen=True)
class Clash:
    """A side no release of this kind can give what it needs: even with every cell open that may be."""

    pair: int
    side: int | None  # DOWN, UP, or None for both together
    need: float
    reach: float


class NoRelease(ValueError):
    """A pattern that is no release of its method. The text is the reason."""


@dataclass(frozen=True, eq=False)
class Result:
    """`optimal`: within the gap required; `feasible`: a valid release with a stated gap (the bound may be missing);
    `infeasible`: proved; `limit`: nothing was found in time; `failed`: a solver did not answer."""

    status: str
    pattern: Pattern | None = None
    objective: float | None = None
    bound: float | None = None
    seconds: dict[str, float] = field(default_factory=dict)  # by phase
    clashes: tuple[Clash, ...] = ()
    facts: dict[str, Any] = field(default_factory=dict)  # what the method has to say of its result, for the report
    notes: tuple[str, ...] = ()  # the same in sentences
    relaxed: dict[str, Any] = field(default_factory=dict)  # options that were relaxed, as they were used
    timed: bool = False  # time had a say: the same search may come to another release
    moves: MoveMatrix | None = None  # witnesses that the search has of its release: hints for the audit, no proof

    @property
    def gap(self) -> float | None:
        """How far the objective may be from the best, as a share of it."""
        if self.objective is None or self.bound is None:
            return None
        return gap(self.objective, self.bound)


def gap(objective: float, bound: float) -> float:
    """Of a cost, which is minimised, as a share of it."""
    if objective <= bound:
        return 0.0
    if objective == 0.0:
        return float("inf")
    return (objective - bound) / abs(objective)
