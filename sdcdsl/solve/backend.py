"""What a solver is to us: a name, what it declares to be able to do, and one way to ask it.

It gives back an `BackendAnswer` and is not believed: `solving` checks it and gives it its meaning. Which backends there
are says the registry.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, Flag, auto
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np

from sdcdsl.diagnostics import did_you_mean
from sdcdsl.registry import Unusable, load
from sdcdsl.solve.limits import SolveLimits
from sdcdsl.vocabulary.backends import BACKENDS, DEFAULT

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
class BackendAnswer:
    ending: Ending
    values: np.ndarray | None = None  # as the solver saw the columns: with the scaling of the model
    bound: float | None = None  # likewise; None where the solver names none
    message: str = ""


class BackendRefused(Exception):
    """Nothing was solved: the backend is not there, or has not declared what the model needs. `refusal` and `missing`
    tell beforehand."""


@runtime_checkable
class Solver(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def can(self) -> Can: ...

    def missing(self) -> str | None:
        """What to install, in a sentence; None if it is there."""
        ...

    def ask(self, model: linopy.Model, limits: SolveLimits) -> BackendAnswer: ...


def backend(name: str = DEFAULT) -> Solver:
    """The solver of this backend, whether it is installed or not."""
    found = BACKENDS.get(name)
    if found is None:
        fault = BACKENDS.fault(name)
        near = did_you_mean(name, BACKENDS)
        raise BackendRefused(fault.headline if fault is not None else f"there is no backend `{name}`. {near}".strip())
    try:
        solver = load(found.solver)()
    except Unusable as error:
        raise BackendRefused(f"the backend `{name}` cannot be used: {error}") from error
    if not isinstance(solver, Solver):
        raise BackendRefused(f"the backend `{name}` cannot be used: a {type(solver).__name__} is no solver")
    return solver


def missing(name: str) -> str | None:
    """Why a backend cannot be used here at all, in a sentence."""
    try:
        return backend(name).missing()
    except BackendRefused as error:
        return str(error)
