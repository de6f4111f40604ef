"""The master of interval protection: which intervals cost what, and what a cut says about them.

Columns are z⁻, then z⁺ of every class (one for both where intervals are mirrored), in units of a typical level; costs
are measured in a typical one. What costs nothing is open as far as anybody reckons with it, and is not in the master.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sdcdsl.accelerate.cutting.requirements import CutRequirements
from sdcdsl.accelerate.cutting.separation import Identity
from sdcdsl.accelerate.ip.tuning import TUNING
from sdcdsl.methods.instance import Instance
from sdcdsl.numerics.cut_pool import RowAges
from sdcdsl.numerics.master import Master, Row


class IntervalMaster:
    def __init__(
        self,
        instance: Instance,
        demands: CutRequirements,
        w_down: np.ndarray,
        w_up: np.ndarray,
        widest: np.ndarray | None = None,
        mirrored: bool = False,
    ):
        """`widest` [class] bounds z⁻ + z⁺. `mirrored`: z⁻ = z⁺, for demands that were mirrored."""
        self.demands, self.widest, self.mirrored = demands, widest, mirrored
        classes = demands.classes
        self.n = n = classes.count
        self.unit = demands.unit
        paid = ~instance.open_anyway
        self.cost = np.concatenate(classes.total(np.where(paid, w_down, 0.0), np.where(paid, w_up, 0.0)))
        self.most = np.concatenate(demands.widest)
        self.free = self.cost <= 0
        if widest is not None:
            self.free &= ~np.tile(np.isfinite(widest), 2)
        self.scale = float(np.exp(np.log(self.cost[self.cost > 0]).mean())) if (self.cost > 0).any() else 1.0
        self.unpaid = self.free[:n] if mirrored else self.free
        upper = np.where(self.free, 0.0, self.most / self.unit)
        lower = np.where(self.free, 0.0, np.minimum(self.own_levels() / self.unit, upper))
        price = np.where(self.free, 0.0, self.cost / self.scale)
        if mirrored:
            price, lower, upper = price[:n] + price[n:], np.maximum(lower[:n], lower[n:]), upper[:n]
        self.master = Master(price, lower, upper)
        self._ages = RowAges(self.master, 1e-7, TUNING.old)
        if widest is not None:
            self._cap_widths(widest)

    def price(self, z: np.ndarray) -> float:
        return float(self.cost[~self.free] @ z[~self.free])

    def row(self, identity: Identity, z: np.ndarray) -> Row:
        """The cut, in units of the master; the slack of the viewer where it is less than the interval."""
        (up, alpha), (down, beta) = identity.up, identity.down
        columns = np.concatenate([down, self.n + up])
        c = np.concatenate([beta, alpha])
        low, high = self.demands.slack(identity.viewer)
        slack = np.concatenate([low[down], high[up]])
        fixed = self.free[columns] | (slack < z[columns])
        rhs = identity.need - float(c[fixed] @ slack[fixed])
        columns, c = columns[~fixed], c[~fixed] * (self.unit / identity.need)
        if self.mirrored:
            columns, place = np.unique(columns % self.n, return_inverse=True)
            c = np.bincount(place, weights=c, minlength=len(columns))
        return columns, c, rhs / identity.need

    def own_levels(self) -> np.ndarray:
        """An interval must let its own class go as far as its level."""
        least = np.zeros(2 * self.n)
        levels = self.demands.levels
        np.maximum.at(least, np.where(levels.sign > 0, self.n, 0) + levels.cell, levels.need)
        return least

    def simple_rows(self) -> Iterator[Row]:
        """Each relation of a class, alone, ties it to the slack of the others."""
        m = self.demands.classes.matrix
        by_class = m.sparse.tocsc()
        levels = self.demands.levels
        nothing = np.where(self.free, self.most, 0.0)
        for s in range(len(levels)):
            p, sign, need = int(levels.cell[s]), int(levels.sign[s]), float(levels.need[s])
            for e in range(by_class.indptr[p], by_class.indptr[p + 1]):
                span = slice(m.start[by_class.indices[e]], m.start[by_class.indices[e] + 1])
                cells, c = m.index[span], -sign * m.value[span] / by_class.data[e]
                up, down = (c > 0) & (cells != p), (c < 0) & (cells != p)
                viewer = int(levels.viewer[s])
                identity = Identity(viewer, need, (cells[up], c[up]), (cells[down], -c[down]), s)
                row = self.row(identity, nothing)
                if np.isfinite(row[2]) and row[2] > 0:
                    yield row

    def _cap_widths(self, widest: np.ndarray) -> None:
        for k in np.flatnonzero(np.isfinite(widest)):
            self.master.add([(np.array([k, self.n + k]), np.array([-1.0, -1.0]), -widest[k] / self.unit)])

    def purge(self, slack: np.ndarray | None) -> None:
        assert slack is not None
        caps = 0 if self.widest is None else int(np.isfinite(self.widest).sum())  # the first rows, which are no cuts
        self._ages.drop(self._ages.slack_for_long(slack, 0.1, caps))
