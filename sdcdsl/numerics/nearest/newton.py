"""Separable convex costs over M z = 0, l ≤ z ≤ u: a semismooth Newton method on the dual.

With f_i(z) = w_up z⁺ + w_down z⁻ + w2 z² and multipliers y, the best deviations z(y) are found cell by cell; the dual
function is concave with gradient -M z(y), and M D Mᵀ, where D is 1 / 2 w2 at cells that react to y and 0 at cells held
by an end or by the bend of f at 0, is a generalised Hessian. Its systems are solved by conjugate gradients with the
diagonal as preconditioner, which is the same as measuring deviations in z √(2 w2) and relations by their length: no
more accurately than a step is worth, and by factors where that does not get there.

The bend leaves most cells without a reaction, and the Hessian without most of its rank. There the steps are tied to an
anchor, max of the dual function - τ |y - anchor|² / 2, which follows y; τ shrinks (an augmented Lagrangian method).

Cells without w2 do not react smoothly. They get it from a proximal term ε (z - c)² around the last solution, c, with ε
small beside the curvature of the relations the cell stands in, until c stays where it is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import csc_array, csr_array, diags_array
from scipy.sparse.linalg import splu

from sdcdsl.deadline import Deadline
from sdcdsl.numerics.nearest.additive import conjugate
from sdcdsl.numerics.nearest.solved import SeparableCost, sides
from sdcdsl.numerics.nearest.tuning import NEWTON
from sdcdsl.numerics.null_space import RelationMatrix, independent_rows

EXACT = 1e-12  # of what a relation adds up: where the residuals may stop
GOOD = 1e-8  # where they are good enough if no step makes them smaller


# d with M D Mᵀ d = -M z, from D, what D is where nothing holds a cell, and z; None if that did not work.
Direct = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray | None]


@dataclass(frozen=True, eq=False)
class Ended:
    z: np.ndarray
    y: np.ndarray
    done: bool  # the relations hold


class Newton:
    """Costs and ends are expected in units that make typical ones about 1."""

    def __init__(self, M: csr_array):
        self.M, self.Mt = M, csr_array(M.T)
        self._absolute = abs(M)
        self._squares = csr_array(M.multiply(M))

    def softness(self, cost: SeparableCost, l: np.ndarray, u: np.ndarray) -> np.ndarray:
        """ε of the cells without w2; 0 for the others."""
        flat = (cost.w2 <= 0) & (l < u)
        if not flat.any():
            return np.zeros(len(l))
        bends = np.where((cost.w2 > 0) & (l < u), 0.5 / np.where(cost.w2 > 0, cost.w2, 1.0), 0.0)
        around = self._squares @ bends
        reach = np.zeros(len(l))
        np.maximum.at(reach, self._squares.indices, np.repeat(around, np.diff(self._squares.indptr)))
        usual = np.median(reach[flat & (reach > 0)]) if (flat & (reach > 0)).any() else 1.0
        return np.where(flat, NEWTON.soft / (2 * np.where(reach > 0, reach, usual)), 0.0)

    def minimise(
        self,
        cost: SeparableCost,
        l: np.ndarray,
        u: np.ndarray,
        y: np.ndarray | None = None,
        soft: tuple[np.ndarray, np.ndarray] | None = None,
        deadline: Deadline | None = None,
        direct: Direct | None = None,
    ) -> Ended:
        """`soft`: ε and c of the proximal terms; `direct`: who solves the systems, if there is a better way."""
        M, Mt = self.M, self.Mt
        eps, c = (np.zeros(len(l)), np.zeros(len(l))) if soft is None else soft
        bent, pull = SeparableCost(cost.w_down, cost.w_up, cost.w2 + eps), 2 * eps * c
        moving = l < u
        react = np.where(moving, 0.5 / np.where(moving, bent.w2, 1.0), 0.0)
        kinked = (cost.w_up > 0) | (cost.w_down > 0)
        whole = self._squares @ np.where(eps > 0, NEWTON.soft * react, react)
        whole[whole == 0] = 1.0

        def at(y: np.ndarray) -> tuple[np.ndarray, float]:
            g = Mt @ y + pull
            z = bent.cheapest(g, l, u)
            return z, float((bent.each(z) - g * z).sum())

        y = np.zeros(sides(M)[0]) if y is None else y
        anchor, slack = y, 1 / NEWTON.first_tie if kinked[moving].any() else 0.0
        z, value = at(y)
        best, best_off, lately = (z, y), np.inf, 0
        for _ in range(NEWTON.steps):
            r = M @ z
            size = np.maximum(self._absolute @ np.abs(z), 1.0)
            off = float((np.abs(r) / size).max(initial=0.0))
            lately = 0 if off < 0.9 * best_off else lately + 1
            if off < best_off:
                best, best_off = (z, y), off
            if off <= EXACT or (best_off <= GOOD and lately > 4):
                return Ended(*best, True)
            if lately > (NEWTON.stuck_while_tied if slack else NEWTON.stuck) or (
                deadline is not None and deadline.expired
            ):
                return Ended(*best, False)
            tie = slack * whole * (y - anchor)
            if slack and np.abs((r + tie) / size).max() <= 0.2 * np.abs(tie / size).max():
                anchor, slack = y, max(slack / 4, 1e-9)
                tie = 0.0 * tie
            D = np.where((z > l) & (z < u) & ~(kinked & (z == 0)), react, 0.0)
            diagonal = self._squares @ D
            # Relations in which nothing reacts follow the gradient, a little way.
            still = (0.0 if slack else 0.1) * (diagonal <= 0)
            shift = np.asarray(whole * (slack + max(min(1e-3 * off, 1e-6), 1e-13) + still))
            hard = lately > (8 if not slack else 25)
            d = direct(D, react, z) if direct is not None and not slack else None
            if d is None:
                d = self._direction(D, diagonal, shift, r + tie, off, hard=hard, tied=slack > 0)
            slope, step = float(-(r + tie) @ d), 1.0
            now = value - 0.5 * slack * float(whole @ (y - anchor) ** 2)
            for _ in range(40):
                z, value = at(y + step * d)
                trial = value - 0.5 * slack * float(whole @ (y + step * d - anchor) ** 2)
                if trial >= now + 1e-4 * step * slope - 1e-13 * abs(now):
                    break
                step /= 2
            y = y + step * d
        return Ended(*best, best_off <= GOOD)

    def _direction(
        self,
        D: np.ndarray,
        diagonal: np.ndarray,
        shift: np.ndarray,
        r: np.ndarray,
        off: float,
        *,
        hard: bool,
        tied: bool,
    ) -> np.ndarray:
        M, Mt = self.M, self.Mt
        if hard and sides(M)[0] <= NEWTON.factors:
            return self._by_factors(D, shift, r, tied)
        tolerance, most = (0.01, 150) if off > 1e-3 else (1e-4, 1000)
        return conjugate(lambda v: M @ (D * (Mt @ v)) + shift * v, -r, 1 / (diagonal + shift), tolerance, most)

    def _by_factors(self, D: np.ndarray, shift: np.ndarray, r: np.ndarray, tied: bool) -> np.ndarray:
        """The dual function depends on Mᵀy alone, so that relations which others imply need not move; ties pull at
        every relation."""
        rows = np.arange(len(r)) if tied else self.enough
        M = csr_array(self.M[rows])
        H = csc_array(M @ diags_array(D) @ M.T) + diags_array(shift[rows])
        factors = splu(csc_array(H), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
        d = np.zeros(len(r))
        d[rows] = factors.solve(-r[rows])
        return d

    @cached_property
    def enough(self) -> np.ndarray:
        """Relations that imply all others. Large tables say the same sums over and over, and factors take the third
        power of what they are given; in small ones finding out would take longer than it saves."""
        m = sides(self.M)[0]
        if m < NEWTON.worth_reducing:
            return np.arange(m)
        return independent_rows(RelationMatrix.of(self.M))
