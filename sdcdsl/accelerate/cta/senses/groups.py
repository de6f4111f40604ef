"""Cells that must move together or against each other, and the relations among what is left.

A relation in which only two cells can move says z_j = f z_i: both directions are chosen at once. Such cells form a
*group* with one deviation D, and so do cells that are tied to each other once groups stand in the relations:

    z_i = factor_i · D_group(i)    (`numerics.aggregation`)

A group has a level upwards and one downwards, the largest of its cells, and a direction is open to it if it is open to
all of them. Relations that follow from others are left out of `matrix` and kept in `every`: they say nothing new about
D, but cuts are made of them. Lengths are in units of a typical level and costs in units of a typical cost (powers of
two, so that no digit is lost): a table in other units is the same problem.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from sdcdsl.methods.cta.adjustment import Adjustment
from sdcdsl.methods.instance import DOWN, UP
from sdcdsl.numerics.aggregation import FIXED, distinct, folded
from sdcdsl.numerics.nearest.solved import power_of_two
from sdcdsl.numerics.null_space import RelationMatrix, independent_rows

ROUNDING = 1e-12


class Groups:
    def __init__(self, adjustment: Adjustment, unit: float | None = None):
        self.adjustment = adjustment
        self.classes = folded(adjustment.M, adjustment.high > adjustment.low)
        self.of, self.factor, self.count = self.classes.of, self.classes.factor, self.classes.count
        self.every = distinct(csr_array(adjustment.M @ self.classes.expansion))
        self.matrix = csr_array(self.every[independent_rows(RelationMatrix.of(self.every))])
        a = adjustment
        of, turn = self.of[a.cells], self.factor[a.cells]
        self.hopeless = np.flatnonzero(of == FIXED)  # cells with a level that cannot move at all
        moves = of != FIXED
        self.place = of  # int64 [p]: the group of each cell with a level
        self.same = turn > 0  # bool [p]: up in the cell is up in the group
        low, high = self.classes.bounds(a.low, a.high)  # the narrowest ends of their cells
        levels = np.zeros((2, self.count))  # DOWN, UP
        open_ = np.ones((self.count, 2), dtype=bool)
        for side, level in ((DOWN, a.lpl), (UP, a.upl)):
            for way, mine in ((side, moves & self.same), (1 - side, moves & ~self.same)):
                length = level[mine] / np.abs(turn[mine])
                np.maximum.at(levels[way], of[mine], np.where(np.isfinite(length), length, 0.0))
                np.logical_and.at(open_[:, way], of[mine], a.open[mine, side])
        open_[:, DOWN] &= levels[DOWN] <= -low * (1 + ROUNDING)
        open_[:, UP] &= levels[UP] <= high * (1 + ROUNDING)
        # An end that a level only misses by rounding is met by it: cells of a group have ends from different sums.
        low = np.where(open_[:, DOWN], np.minimum(low, -levels[DOWN]), low)
        high = np.where(open_[:, UP], np.maximum(high, levels[UP]), high)
        self.sensitive = np.unique(of[moves])  # int64 [k]: groups with a level
        self.open = open_[self.sensitive]  # bool [k, 2]
        self.at = np.full(self.count, -1)  # the other way round
        self.at[self.sensitive] = np.arange(len(self.sensitive))
        some = levels[levels > 0]
        if unit is None:
            unit = power_of_two(float(np.median(some))) if len(some) else 1.0
        self.unit = unit
        self.low, self.high = low / self.unit, high / self.unit
        self.down, self.up = levels[DOWN] / self.unit, levels[UP] / self.unit  # [group]: levels

    def prices(self, w_down: np.ndarray, w_up: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
        """What a unit of D costs down and up, in units of the third: Σ w |z| of the group's cells."""
        cells = np.flatnonzero(self.of != FIXED)
        of, turn = self.of[cells], np.abs(self.factor[cells])
        same = self.factor[cells] > 0
        down = np.bincount(of, np.where(same, w_down[cells], w_up[cells]) * turn, self.count)
        up = np.bincount(of, np.where(same, w_up[cells], w_down[cells]) * turn, self.count)
        some = np.concatenate([down[down > 0], up[up > 0]])
        price = power_of_two(float(np.exp(np.log(some).mean()))) if len(some) else 1.0
        return down / price, up / price, price

    def squares(self, w: np.ndarray) -> np.ndarray:
        """Σ w z² = Σ squares D², in natural units."""
        cells = np.flatnonzero(self.of != FIXED)
        return np.bincount(self.of[cells], w[cells] * self.factor[cells] ** 2, self.count)

    def to_cells(self, D: np.ndarray) -> np.ndarray:
        """z of all cells, in natural units."""
        moves = self.of != FIXED
        D = np.append(D, 0.0)
        return np.where(moves, self.factor * D[np.where(moves, self.of, self.count)] * self.unit, 0.0)

    def moves(self, z: np.ndarray) -> np.ndarray:
        """D of all groups, from the cells of a table."""
        D = np.zeros(self.count)
        cells = np.flatnonzero(self.of != FIXED)
        D[self.of[cells]] = z[cells] / self.factor[cells] / self.unit
        return D

    def senses(self, up: np.ndarray) -> np.ndarray:
        """int8 [p] from bool [k]: which groups go up."""
        sense = np.zeros(len(self.place), dtype=np.int8)
        moves = self.place != FIXED
        sense[moves] = np.where(up[self.at[self.place[moves]]] == self.same[moves], 1, -1)
        return sense

    def box(self, up: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Ends of D with the levels of these directions in them."""
        l, u = self.low.copy(), self.high.copy()
        s = self.sensitive
        l[s[up]] = self.up[s[up]]
        u[s[~up]] = -self.down[s[~up]]
        return l, u
