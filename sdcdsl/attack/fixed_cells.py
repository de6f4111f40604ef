"""Cells that the relations alone determine: no other cell's slack matters, and no solver has to be asked.

Such a cell has a row of zeros in every basis of the null space, and so does not move in a direction that is drawn at
random. (A direction in which it is fixed by chance would give a reason that does not hold, and the audit notices.)
"""

from __future__ import annotations

from functools import partial
from math import inf

import numpy as np

from sdcdsl.attack.engine import Answer, Bounds, Engine, Identity, stands_still
from sdcdsl.numerics.null_space import Echelon, random_direction

NOTHING = 1e-9


class FixedCellsEngine:
    """Answers for cells that cannot move; another engine for the others."""

    def __init__(self, echelon: Echelon, cells: int, inner: Engine):
        self.echelon, self.inner = echelon, inner
        self._still = np.abs(random_direction(echelon, cells)) < NOTHING

    def push(self, cell: int, sign: int, need: float = inf, bounds: Bounds | None = None) -> Answer:
        if self._still[cell]:
            return stands_still(partial(self._why, cell, sign))
        return self.inner.push(cell, sign, need, bounds)

    def joint(self, cells: np.ndarray, signs: np.ndarray, needs: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
        moving = ~self._still[cells]
        return self.inner.joint(cells[moving], signs[moving], needs[moving]) if moving.any() else None

    def still(self, cells: np.ndarray) -> np.ndarray:
        return self._still[cells]

    def _why(self, cell: int, sign: int) -> Identity:
        goal = np.zeros(len(self._still))
        goal[cell] = sign
        gamma = self.echelon.multipliers(goal)
        used = np.flatnonzero(np.abs(gamma) > 1e-12)
        return self.echelon.row[used], gamma[used]
