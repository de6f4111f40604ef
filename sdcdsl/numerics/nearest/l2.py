"""The closest table in L2 (paper 004 (5)): min Σ w z²,  M z = 0,  l ≤ z ≤ u.

Newton's method on the dual, where z(y) = clip(Mᵀy / 2w, l, u); through the inside where that does not get there, or
where tables move in few directions.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from sdcdsl.deadline import Deadline
from sdcdsl.numerics.nearest.l1l2 import MixedNormProblem
from sdcdsl.numerics.nearest.solved import Solved


class L2:
    """min Σ w z² for one M, again and again; `many`: it will be asked so often that what all have in common should be
    worked out first."""

    def __init__(self, M: csr_array, many: bool = False):
        self._mixed = MixedNormProblem(M, many)

    @property
    def tells_what_fits(self) -> bool:
        """Whether it is quickly told that nothing fits."""
        return self._mixed.tells_what_fits

    def solve(self, w: np.ndarray, l: np.ndarray, u: np.ndarray, deadline: Deadline | None = None) -> Solved:
        nothing = np.zeros(len(w))
        return self._mixed.solve(nothing, nothing, w, l, u, deadline)
