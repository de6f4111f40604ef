"""What every engine offers, and which one fits a component."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import Protocol

import numpy as np

Bounds = tuple[np.ndarray, np.ndarray, np.ndarray]  # cells, and the ends that hold for them in one question only
Identity = tuple[np.ndarray, np.ndarray]  # equations and multipliers γ: sign · d_p = (sign · e_p - Mᵀγ) d


class Answer(Protocol):
    """How far a cell goes. `reached` is ∞ if nothing ends it; the move is then a ray, to be taken any number of
    times."""

    @property
    def reached(self) -> float: ...
    @property
    def cells(self) -> np.ndarray: ...
    @property
    def move(self) -> np.ndarray: ...
    @property
    def closed(self) -> bool:
        """Proved to be the furthest."""
        ...

    @property
    def bound(self) -> float:
        """Where it is not closed: it goes no further than this, for certain. ∞ if nothing is known."""
        ...

    @property
    def again(self) -> bool:
        """An earlier answer had the same move: it has been seen."""
        ...

    def multipliers(self) -> Identity | None:
        """Why it goes no further, if it is closed, or than the bound."""
        ...


@dataclass(frozen=True, eq=False)
class EngineAnswer:
    """An answer of an engine that has its reason at hand, or knows how to find it."""

    reached: float
    cells: np.ndarray
    move: np.ndarray
    closed: bool
    why: Callable[[], Identity] | None = None
    bound: float = inf
    again: bool = False

    def multipliers(self) -> Identity | None:
        return self.why() if self.why is not None else None


def nothing() -> tuple[np.ndarray, np.ndarray]:
    """No cells or relations, and no numbers for them."""
    return np.zeros(0, dtype=np.int64), np.zeros(0)


def stands_still(why: Callable[[], Identity]) -> EngineAnswer:
    """The answer about a cell that cannot move."""
    return EngineAnswer(0.0, *nothing(), True, why)


class Engine(Protocol):
    """Answers questions about one component, with cells and equations numbered within it, the truth at 0."""

    def push(self, cell: int, sign: int, need: float = inf, bounds: Bounds | None = None) -> Answer:
        """How far can the cell go in the direction `sign`? It may stop at `need`."""
        ...

    def joint(self, cells: np.ndarray, signs: np.ndarray, needs: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
        """One move that takes many cells at once as near to their needs as they go together; None if not offered."""
        ...

    def still(self, cells: np.ndarray) -> np.ndarray:
        """Which of the cells are known not to move, without a question."""
        ...
