"""One step of the interior point method through the relations: A Q⁻¹ Aᵀ dy = r, where Q is what bends each column.

By factors of the equilibrated matrix, and refined. For tables in which cells outnumber the relations; where relations
leave few directions to move in, `directions` has smaller equations.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csc_array, csr_array, diags_array
from scipy.sparse.linalg import SuperLU, splu

from sdcdsl.numerics.nearest.tuning import INTERIOR

ROUNDING = 1e-15  # of a term of a sum
REGULAR = 1e-14  # added to the equilibrated matrix, whose diagonal is 1


class RelationSystem:
    """A x = b, with a multiplier y for each relation."""

    def __init__(self, A: csr_array, b: np.ndarray):
        self.A, self.b = A, b
        self.At = csr_array(A.T)
        self._absolute, self._columns = abs(A), abs(self.At)

    def start(self) -> np.ndarray:
        return np.zeros(len(self.b))

    def slopes(self, y: np.ndarray) -> np.ndarray:
        return self.At @ y

    def off(self, x: np.ndarray) -> float:
        """Of the worst relation, relative to what it adds up."""
        sums = np.abs(self.A @ x - self.b) / np.maximum(self._absolute @ np.abs(x), 1.0)
        return float(sums.max(initial=0.0))

    def proved(self, y: np.ndarray, x: np.ndarray) -> float:
        """b·y, less what rounding may have added to it and to (Aᵀy)·x."""
        noise = (self._columns @ np.abs(y)) @ np.abs(x) + np.abs(self.b) @ np.abs(y)
        return float(self.b @ y - ROUNDING * noise)

    def system(self, Q: np.ndarray) -> _Factors | None:
        D = 1 / Q
        H = csr_array(self.A @ diags_array(D) @ self.At)
        diagonal = H.diagonal()
        scale = 1 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
        even = csr_array(diags_array(scale) @ H @ diags_array(scale))
        try:
            factors = splu(
                csc_array(even + diags_array(np.full(len(scale), REGULAR))),
                permc_spec="MMD_AT_PLUS_A",
                diag_pivot_thresh=0.0,
                options={"SymmetricMode": True},
            )
        except RuntimeError:  # singular after all
            return None
        return _Factors(self, D, factors, scale, even)


@dataclass(frozen=True, eq=False)
class _Factors:
    of: RelationSystem
    D: np.ndarray
    factors: SuperLU
    scale: np.ndarray
    even: csr_array

    def step(self, pull: np.ndarray, x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """dx and dy with Q dx - Aᵀdy = `pull` and A (x + dx) = b."""
        r = self.scale * (self.of.b - self.of.A @ x - self.of.A @ (self.D * pull))
        v = self.factors.solve(r)
        for _ in range(INTERIOR.refined_relations):
            v = v + self.factors.solve(r - self.even @ v)
        dy = self.scale * v
        return self.D * (pull + self.of.At @ dy), dy
