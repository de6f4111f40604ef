"""One step of the interior point method through the directions a table can move in: NᵀQN dt = r.

Relations of a table with many dimensions say the same sums over and over. CSPLIB's hier16 has 5 484 of them among 3 564
cells, and moves in 372 directions: x = N t, where t are the values of a few cells that determine all others. Equations
in t are small, and a dense Cholesky factor of them takes a hundredth of the time that sparse factors of the relations
take.

N is sparse if the cells that are eliminated are the sums, and the parts are left: then a row of N says which parts make
up a cell. The choice matters: 26 968 entries in hier16, and 706 170 for pivots that stand in the fewest relations.

In place of multipliers y there is their slope at each cell, g = Aᵀy: any g with Nᵀg = 0 is one.

What it buys: a step for hier16 and ninenew takes 0.7 and 32 ms, by relations 120 and 530 ms.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.sparse import csr_array

from sdcdsl.numerics.compiled import kernel
from sdcdsl.numerics.nearest.solved import sides
from sdcdsl.numerics.nearest.tuning import INTERIOR
from sdcdsl.numerics.null_space import Echelon, RelationMatrix, echelon, null_space

ROUNDING = 1e-15  # of a term of a sum
REGULAR = (1e-14, 1e-11)  # added to the equilibrated matrix, whose diagonal is 1; more if that is not enough


class Directions:
    """A x = 0 as x = N t; its multipliers are slopes g."""

    def __init__(self, A: csr_array, made: Echelon, N: csr_array):
        self.A, self._made, self.N = A, made, N
        self.Nt = csr_array(N.T)
        self._absolute = abs(A)

    def start(self) -> np.ndarray:
        return np.zeros(sides(self.N)[0])

    def slopes(self, g: np.ndarray) -> np.ndarray:
        return g

    def off(self, x: np.ndarray) -> float:
        """Of the worst relation, relative to what it adds up."""
        return float((np.abs(self.A @ x) / np.maximum(self._absolute @ np.abs(x), 1.0)).max(initial=0.0))

    def proved(self, g: np.ndarray, x: np.ndarray) -> float:
        """Nothing by itself, less what rounding may have added to g·x."""
        return -ROUNDING * float(np.abs(g) @ np.abs(x))

    def multipliers(self, g: np.ndarray) -> np.ndarray:
        """y of all relations with Aᵀy = g."""
        y = np.zeros(sides(self.A)[0])
        y[self._made.row] = self._made.multipliers(g)
        return y

    def system(self, Q: np.ndarray) -> _Factor | None:
        k = len(self._made.free)
        H = np.zeros((k, k), order="F")
        _add_up.at(self.N.nnz)(self.N.indptr, self.N.indices, self.N.data, Q, H)
        diagonal = H.diagonal()
        scale = 1 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
        H *= scale[:, None]
        H *= scale[None, :]
        for regular in REGULAR:
            np.fill_diagonal(H, np.where(diagonal > 0, 1.0, 0.0) + regular)
            with suppress(LinAlgError):  # not positive definite after all
                return _Factor(self, Q, cho_factor(H, lower=True, check_finite=False)[0], scale)
        return None

    def missing(self, x: np.ndarray) -> np.ndarray:
        """What takes x to the point of the space that has the same t."""
        return self.N @ x[self._made.free] - x


@dataclass(frozen=True, eq=False)
class _Factor:
    of: Directions
    Q: np.ndarray
    factor: np.ndarray
    scale: np.ndarray

    def step(self, pull: np.ndarray, x: np.ndarray, g: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """dx and dg with Q dx - dg = `pull`, x + dx = N t and Nᵀ(g + dg) = 0."""
        N, Nt = self.of.N, self.of.Nt
        dx = self.of.missing(x)
        for _ in range(1 + INTERIOR.refined_directions):
            r = self.scale * (Nt @ (pull - g - self.Q * dx))
            dx = dx + N @ (self.scale * cho_solve((self.factor, True), r, check_finite=False))
        return dx, self.Q * dx - pull


def directions(A: csr_array) -> Directions | None:
    """None if there are too many of them, or nearly as many as relations: then relations are as good."""
    matrix = RelationMatrix.of(A)
    made = echelon(matrix, _as_part(A))
    if made is None:
        return None
    k = len(made.free)
    if not 0 < k <= min(INTERIOR.directions, len(made.row)) or k * sides(A)[1] > INTERIOR.numbers:
        return None
    return Directions(A, made, csr_array(null_space(matrix, made)))


def _as_part(A: csr_array) -> np.ndarray:
    """In how many relations each cell is a part, and not the one cell on the other side."""
    m, n = sides(A)
    row = np.repeat(np.arange(m), np.diff(A.indptr))
    alone = np.zeros(len(row), dtype=bool)
    for side in (A.data > 0, A.data < 0):
        alone |= side & (np.bincount(row, side, m) == 1)[row]
    return np.bincount(A.indices, ~alone, n).astype(np.int64)


@kernel
def _add_up(start, index, value, Q, H):
    """The lower half of NᵀQN, added to H cell by cell."""
    for i in range(len(start) - 1):
        for e in range(start[i], start[i + 1]):
            f = Q[i] * value[e]
            a = index[e]
            for o in range(e, start[i + 1]):
                H[index[o], a] += f * value[o]
