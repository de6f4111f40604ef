"""What every engine offers, and which one fits a component."""

from __future__ import annotations

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

    def multipliers(self) -> Identity | None:
        """Why it goes no further, if it is closed."""
        ...


class Engine(Protocol):
    """Answers questions about one component, with cells and equations numbered within it, the truth at 0."""

    def push(self, cell: int, sign: int, need: float = inf, bounds: Bounds | None = None) -> Answer:
        """How far can the cell go in the direction `sign`? It may stop at `need`."""
        ...

    def joint(self, cells: np.ndarray, signs: np.ndarray, needs: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
        """One move that takes many cells at once as near to their needs as they go together; None if not offered."""
        ...
