"""Where the published value of a cell may lie, before anything is drawn.

What a reader learns of a sensitive cell from v and α is v / (1 + α) ≤ y ≤ v / (1 - α). That must leave slack for the
cell's own levels, and v must keep the promise |v - a| ≤ α |a| and the bounds of every table. For a > 0:

    (1 - α) a ≤ v ≤ (1 + α) a,     lb ≤ v ≤ ub
    (1 - α) (a + upl) ≤ v ≤ (1 + α) (a - lpl)
    spl (1 - α²) / 2α ≤ v,     (1 - α) (L + spl) ≤ v ≤ (1 + α) (U - spl)        against who knows L ≤ y ≤ U

the mirror image for a < 0. Every end moves outwards as α grows, so that there is a smallest α for each cell. Zero is
published as zero, which hides nothing while α < 1; v = 0 with α = 1 says nothing about the cell at all.

Draws are made in the paper's [(1 - α/2) a, (1 + α/2) a] (¶18), moved into the allowed range where it sticks out, and
cut only if it is wider than that. (The paper writes [LB, LB + α]; an interval that keeps its width is meant.)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sdcdsl.methods.clashes import clashes
from sdcdsl.methods.instance import DOWN, UP, Instance
from sdcdsl.methods.result import Clash

EXACT = 1e-12  # ends that cross by no more than this share of their size are one point
HALVINGS = 60


@dataclass(frozen=True, eq=False)
class ValueRanges:
    """Ends of values, one a sensitive cell."""

    low: np.ndarray
    high: np.ndarray


class Own:
    """What the sensitive cells themselves ask of v: published cells with status u, in the mirror if negative."""

    def __init__(self, instance: Instance):
        d = instance.problem.dataset
        self.cells: np.ndarray = np.flatnonzero(instance.sensitive)
        self.a = instance.a[self.cells]
        self.mirrored = self.a < 0
        self.size = np.abs(self.a)
        ends = np.minimum(d["lb"].values[self.cells], self.a), np.maximum(d["ub"].values[self.cells], self.a)
        self.lb, self.ub = self._seen(*ends)
        lpl, upl, spl, least, most = self._levels(instance)
        down, up = np.where(self.mirrored, upl, lpl), np.where(self.mirrored, lpl, upl)
        self.asks = (down > 0) | (up > 0) | (spl > 0)
        self.P, self.Q = self.size + up, self.size - down
        self.spl = spl
        self.L_spl, self.U_spl = least, most

    def _seen(self, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.where(self.mirrored, -high, low), np.where(self.mirrored, -low, high)

    def _levels(self, instance: Instance) -> tuple[np.ndarray, ...]:
        """The most that any attacker's levels require; L + spl and U - spl in the mirror."""
        count = len(self.cells)
        lpl, upl, spl, least, most = (np.zeros(count) for _ in range(5))
        most += np.inf
        pairs = np.flatnonzero(instance.sensitive[instance.pair_cell])
        at = np.searchsorted(self.cells, instance.pair_cell[pairs])
        np.maximum.at(lpl, at, instance.level[DOWN, pairs])
        np.maximum.at(upl, at, instance.level[UP, pairs])
        np.maximum.at(spl, at, instance.slide[pairs])
        LB, UB = slack_of_pairs(instance)[:, pairs]
        below, above = np.where(self.mirrored[at], UB, LB), np.where(self.mirrored[at], LB, UB)
        slide = instance.slide[pairs]
        np.maximum.at(least, at, np.where(slide > 0, self.size[at] - below + slide, 0.0))
        np.minimum.at(most, at, np.where(slide > 0, self.size[at] + above - slide, np.inf))
        return lpl, upl, spl, least, most

    def _ends(self, alpha: float | np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """In the mirror; empty where low > high."""
        with np.errstate(divide="ignore", invalid="ignore"):
            slide = np.where(self.spl > 0, self.spl * (1 - np.square(alpha)) / (2 * alpha), 0.0)
        low = np.maximum.reduce([self.lb, (1 - alpha) * np.maximum(self.P, self.L_spl), slide])
        high = np.minimum.reduce([self.ub, (1 + alpha) * np.minimum(self.Q, self.U_spl), (1 + alpha) * self.size])
        # v = 0 says nothing about a cell when α = 1: it always fits.
        high = np.where((np.asarray(alpha) >= 1) & (self.lb <= 0), np.maximum(high, 0.0), high)
        zero = self.size == 0
        low, high = np.where(zero, 0.0, low), np.where(zero, 0.0, high)
        high[zero & self.asks & ~(np.asarray(alpha) >= 1)] = -1.0
        return low, high

    def smallest(self) -> np.ndarray:
        """The smallest α that leaves each cell somewhere to go; inf if none up to 1 does."""
        few, many = np.zeros(len(self.cells)), np.ones(len(self.cells))
        for _ in range(HALVINGS):
            middle = (few + many) / 2
            fits = _fits(*self._ends(middle))
            few, many = np.where(fits, few, middle), np.where(fits, middle, many)
        never = ~_fits(*self._ends(np.ones(len(self.cells))))
        return np.where(never, np.inf, np.where(self.asks, many, 0.0))

    def allowed(self, alpha: float) -> ValueRanges:
        """Every α at least `smallest()`, within rounding, leaves a range in every cell."""
        low, high = self._ends(alpha)
        middle = np.where(low > high, (low + high) / 2, 0.0)
        low, high = np.where(low > high, middle, low), np.where(low > high, middle, high)
        return ValueRanges(*self._seen(low, high))

    def drawn_from(self, alpha: float) -> ValueRanges:
        allowed = self.allowed(alpha)
        width = np.minimum(alpha * self.size, allowed.high - allowed.low)
        low = np.clip(self.a - alpha * self.size / 2, allowed.low, allowed.high - width)
        return ValueRanges(low, np.minimum(low + width, allowed.high))


def _fits(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    return low <= high + EXACT * np.abs(high)


def slack_of_pairs(instance: Instance) -> np.ndarray:
    """How far each pair's cell may be below and above the truth as far as the attacker knows: [DOWN | UP, pair]."""
    attacker, cell = instance.pair_attacker, instance.pair_cell
    view = instance.view_of[attacker]
    out = np.stack([instance.LB[view, cell], instance.UB[view, cell]])
    for k in np.unique(attacker):
        about, LB, UB = instance.known(int(k))
        for pair in np.flatnonzero((attacker == k) & np.isin(cell, about)) if len(about) else ():
            mine = about == cell[pair]
            out[DOWN, pair] = min(out[DOWN, pair], LB[mine].min())
            out[UP, pair] = min(out[UP, pair], UB[mine].min())
    return out


def known_too_well(instance: Instance) -> list[Clash]:
    """Levels beyond what the attacker knows of the cell beforehand: no release helps against that."""
    return clashes(instance, slack_of_pairs(instance))
