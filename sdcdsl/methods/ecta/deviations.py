"""The tables that ECTA may publish, as deviations z = v - a (paper 001 ¶18): ends of every cell, β, and sums.

    M z = 0,   lb_i - a_i ≤ z_i ≤ ub_i - a_i
    sensitive cells within a range (`ranges`),   |z_i| ≤ β/2 |a_i| elsewhere

Cells that must be published, and zeros, stay as they are. Cells that are hidden already and unions of cells, which
nobody publishes, have no β.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor, log10

import numpy as np

from sdcdsl.methods.ecta.ranges import ValueRanges
from sdcdsl.methods.instance import Instance

DIGITS = 4  # of a published β: rounded up
NOTHING = 1e-10  # a β below this is zero
Box = tuple[np.ndarray, np.ndarray]  # ends of z = v - a, all cells


@dataclass(frozen=True, eq=False)
class Table:
    """One that may be published, if an attack shows that it protects."""

    z: np.ndarray  # [cell] v - a
    beta: float  # to be published: DIGITS digits, the cap at most
    least: float  # no other cell is moved by more than half of this share


class Deviations:
    """`cap` is the largest β that may be published, `most` the largest share by which another cell may be moved."""

    def __init__(self, instance: Instance, cap: float, most: float):
        d = instance.problem.dataset
        self.instance, self.cap, self.most = instance, cap, most
        self.a, self.size = instance.a, np.abs(instance.a)
        lb, ub = np.minimum(d["lb"].values - self.a, 0.0), np.maximum(d["ub"].values - self.a, 0.0)
        self.union = ~d["published"].values
        lb[self.union], ub[self.union] = -np.inf, np.inf  # their members keep the bounds
        self.lb, self.ub = lb, ub
        self.fixed = ~instance.may_open | (~instance.open_anyway & (self.size == 0))
        self.lb[self.fixed] = self.ub[self.fixed] = 0.0
        self.sensitive = instance.sensitive
        self.cells = np.flatnonzero(self.sensitive)
        self.others = ~self.sensitive & ~instance.open_anyway
        # A length for every cell, so that solvers see numbers near one.
        usual = float(np.median(self.size[self.size > 0])) if (self.size > 0).any() else 1.0
        self.unit = np.where(self.size > 0, self.size, usual)
        rows = abs(instance.M) @ self.unit
        self.row_unit = np.where(rows > 0, rows, 1.0)
        self.M = instance.M

    def box(self, range_: ValueRanges, most: float | None = None) -> Box:
        """Ends of z when sensitive cells keep to `range_` and others move by no more than the share `most`."""
        half = (self.most if most is None else most) * self.size
        low = np.where(self.others, np.maximum(self.lb, -half), self.lb)
        high = np.where(self.others, np.minimum(self.ub, half), self.ub)
        low[self.cells], high[self.cells] = range_.low - self.a[self.cells], range_.high - self.a[self.cells]
        return low, high

    def beta(self, z: np.ndarray) -> float:
        """The least β of which these are deviations."""
        moved = self.others & ~self.fixed
        return 2 * float((np.abs(z[moved]) / self.size[moved]).max(initial=0.0))

    def table(self, z: np.ndarray) -> Table:
        """With its least β, as it would be published."""
        least = self.beta(z)
        if least <= NOTHING:
            unmoved = np.where(self.others, 0.0, z)
            if self.adds_up(unmoved):
                return Table(unmoved, 0.0, 0.0)
        return Table(z, min(rounded_up(least), self.cap), least)

    def adds_up(self, z: np.ndarray) -> bool:
        return bool((np.abs(self.M @ z) <= 1e-10 * self.row_unit).all())


def rounded_up(beta: float) -> float:
    """To DIGITS digits, so that what is printed is what is meant."""
    if beta <= 0:
        return 0.0
    digits = DIGITS - 1 - floor(log10(beta))
    return round(ceil(beta * 10.0**digits * (1 - 1e-12)) / 10.0**digits, digits)
