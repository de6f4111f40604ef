"""What a backend is: a name, what it declares to be able to do, and one way to ask it.

A backend gives back what the solver said (`Answer`), and is not believed: `solving` checks it and gives it its meaning.
Third parties register theirs under the entry point group `sdcdsl.backends`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, Flag, auto
from typing import TYPE_CHECKING, Protocol

import numpy as np

from sdcdsl.solve.limits import Limits

if TYPE_CHECKING:
    import linopy


class Can(Flag):
    LP = auto()
    MIP = auto()
    QP = auto()
    MIQP = auto()
    LAZY_CUTS = auto()
    TIME_LIMIT = auto()
    DETERMINISTIC = auto()  # same model, limits and seed: same answer, as long as no time limit strikes


WORDS = {
    Can.LP: "linear programs",
    Can.MIP: "integer variables",
    Can.QP: "quadratic objectives",
    Can.MIQP: "quadratic objectives with integer variables",
    Can.LAZY_CUTS: "cuts that are found while it runs",
    Can.TIME_LIMIT: "a time limit",
    Can.DETERMINISTIC: "the same answer twice",
}


class Ending(Enum):
    """Why a solver stopped, by its own account."""

    OPTIMAL = auto()
    INFEASIBLE = auto()
    UNBOUNDED = auto()
    UNBOUNDED_OR_INFEASIBLE = auto()
    LIMIT = auto()
    FAILED = auto()


@dataclass(frozen=True, eq=False)
class Answer:
    ending: Ending
    values: np.ndarray | None = None  # as the solver saw the columns: with the scaling of the model
    bound: float | None = None  # likewise; None where the solver names none
    message: str = ""


class Refused(Exception):
    """Nothing was solved: the backend is not there, or has not declared what the model needs. `refusal` and
    `registry.missing` tell beforehand."""


class Backend(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def can(self) -> Can: ...

    def missing(self) -> str | None:
        """What to install, in a sentence; None if it is there."""
        ...

    def ask(self, model: linopy.Model, limits: Limits) -> Answer: ...
