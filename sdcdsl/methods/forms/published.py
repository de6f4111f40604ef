"""From columns of the master to a release: whole multiples, values that add up, intervals that hold them.

What a solver gives back is nearly right. Here it is made exactly right: multiples are whole, sensitive cells stand at
an end of their range where they must, deviations add up (`nearest.additive`), an interval holds what readers may take
its cell for. The slacks that leaves are worked out from these numbers, and it is they that are attacked.
"""

from __future__ import annotations

from math import floor, inf, log10

import numpy as np
from scipy.sparse import csr_array

from sdcdsl.methods.forms.forms import FormColumns
from sdcdsl.methods.instance import Instance
from sdcdsl.methods.result import NoRelease
from sdcdsl.numerics.nearest.additive import additive
from sdcdsl.pattern import Pattern
from sdcdsl.pattern.pattern import CHANGED, EXACT, HIDDEN, INTERVAL

HALF = 0.5
NOTHING = 1e-12  # of the true value: what is left of it when it is taken away
DUST = 1e-9  # of a unit: widths and deviations that are none
NEAR_WHOLE = 1e-6  # of a base: what a multiple may be off by when it is read off its value
ADDS_UP = 1e-9  # residual of a relation, relative to the sum of its absolute terms


class Published:
    def __init__(self, instance: Instance, at: FormColumns, unit: float):
        self.instance, self.at = instance, at
        self.dust = DUST * unit
        self._digits = 6 - floor(log10(unit))
        unions = np.flatnonzero(~instance.problem.dataset["published"].values)
        M = instance.M.tocsc()
        stated = np.ones(instance.m, dtype=bool)
        stated[np.unique(M[:, unions].indices)] = False
        self.M = csr_array(instance.M[np.flatnonzero(stated)])
        self.valued = (at.reach > 0) | (at.base > 0)
        self.perturbed = self.valued & (at.base == 0)
        self.interval = (at.plus >= 0) & ~self.perturbed

    def short(self, u: np.ndarray) -> np.ndarray:
        """The same with ends of intervals, and deviations, of few digits: what lies a solver's noise beside a short
        number is that number, more often than not."""
        u = u.copy()
        for columns in (self.at.plus, self.at.minus):
            at = columns[columns >= 0]
            u[at] = np.round(u[at], self._digits)
        return u

    def exact(self, u: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, float] | None:
        """The columns made exact, the slacks they leave below and above, the cost; None if values do not add up."""
        i, at = self.instance, self.at
        t, hidden = self._deviations(u)
        if t is None:
            return None
        down, up = np.zeros(i.n), np.zeros(i.n)
        down[self.valued], up[self.valued] = (at.reach - t)[self.valued], (at.reach + t)[self.valued]
        minus, plus = (np.where(self.interval, np.maximum(u[c], 0.0), 0.0) for c in (at.minus, at.plus))
        minus, plus = (np.where((z > self.dust) & ~self._unused(u), z, 0.0) for z in (minus, plus))
        inside = self.interval
        down[inside], up[inside] = np.maximum(minus, -t)[inside], np.maximum(plus, t)[inside]
        gone = hidden | i.open_anyway
        down[gone] = up[gone] = inf
        return self._columns(u, t, down, up, hidden), down, up, self._cost(t, down, up, hidden)

    def _deviations(self, u: np.ndarray) -> tuple[np.ndarray | None, np.ndarray]:
        """t of every cell, additive."""
        i, at = self.instance, self.at
        l, high = np.zeros(i.n), np.zeros(i.n)
        t = np.zeros(i.n)
        rounded = at.base > 0
        t[rounded] = self._multiples(u)[rounded] - i.a[rounded]
        l[rounded] = high[rounded] = t[rounded]
        p = self.perturbed
        t[p] = u[at.plus[p]] - u[at.minus[p]]
        t[np.abs(t) <= np.where(p, self.dust, 0.0)] = 0.0
        l[p], high[p] = -at.down[p], at.up[p]
        t[at.whole] = l[at.whole] = high[at.whole] = np.round(t[at.whole])
        at_end = p & i.sensitive
        t[at_end] = np.where(t > 0.5 * (at.up - at.down), at.up, -at.down)[at_end]
        l[at_end] = high[at_end] = t[at_end]
        hidden = np.zeros(i.n, dtype=bool)
        hidden[at.hide >= 0] = u[at.hide[at.hide >= 0]] > HALF
        loose = (at.guess >= 0) & (hidden | self.interval | i.open_anyway)
        t[loose] = u[at.guess[loose]]
        l[loose], high[loose] = -at.below[loose], at.above[loose]
        off = (p | self.interval) & self._unused(u) & ~at_end
        t[off] = l[off] = high[off] = 0.0
        t = additive(self.M, t, l, high)
        r, size = np.abs(self.M @ t), abs(self.M) @ (np.abs(i.a) + np.abs(t))
        slack = ADDS_UP * size + 1e-12 * size.max(initial=0.0)
        counts = abs(self.M) @ np.where(at.whole, 0.0, np.abs(t)) == 0  # sums of whole numbers are right or wrong
        return (t if (r <= np.where(counts, np.minimum(slack, 0.5), slack)).all() else None), hidden

    def _unused(self, u: np.ndarray) -> np.ndarray:
        """Cells about which it is decided that they have no interval, or keep their value."""
        return (self.at.used >= 0) & (u[np.maximum(self.at.used, 0)] <= HALF)

    def _columns(
        self, u: np.ndarray, t: np.ndarray, down: np.ndarray, up: np.ndarray, hidden: np.ndarray
    ) -> np.ndarray:
        at, u = self.at, u.copy()
        for columns, values, mask in (
            (at.plus, np.maximum(t, 0.0), self.perturbed),
            (at.minus, np.maximum(-t, 0.0), self.perturbed),
            (at.plus, up, self.interval),
            (at.minus, down, self.interval),
            (at.hide, hidden.astype(float), at.hide >= 0),
            (at.multiple, np.round(u[np.maximum(at.multiple, 0)]), at.multiple >= 0),
            (at.guess, t, at.guess >= 0),
            (at.used, self._touched(t, down, up).astype(float), at.used >= 0),
            (at.upper, (t > 0.5 * (at.up - at.down)).astype(float), at.upper >= 0),
        ):
            u[columns[mask]] = values[mask]
        return at.completed(u)

    def _touched(self, t: np.ndarray, down: np.ndarray, up: np.ndarray) -> np.ndarray:
        """Cells with an interval, or with another value than the true one."""
        return np.where(self.interval, (down > 0) | (up > 0), self.valued & (t != 0))

    def _cost(self, t: np.ndarray, down: np.ndarray, up: np.ndarray, hidden: np.ndarray) -> float:
        i = self.instance
        moved = np.where(self.valued, t, 0.0)
        cost = i.w_up * np.maximum(moved, 0.0) + i.w_down * np.maximum(-moved, 0.0)
        wide = np.flatnonzero(self.interval & ~i.open_anyway)
        cost[wide] += i.w_up[wide] * up[wide] + i.w_down[wide] * down[wide]
        cost += np.where(self._touched(t, down, up) & (self.at.used >= 0), i.w_fixed, 0.0)
        gone = hidden | ((i.problem.dataset["status"].values == "m") & (self.at.hide >= 0).any())
        cost += np.where(gone & i.problem.dataset["published"].values, i.w, 0.0)
        return float(cost.sum())

    def price(self, released: Pattern) -> float:
        """What a release of these forms costs."""
        a, hidden = self.instance.a, released.status == HIDDEN
        t = np.where(self.valued, np.nan_to_num(released.value - a), 0.0)
        down, up = (np.where(hidden, inf, x) for x in (a - released.low, released.high - a))
        return self._cost(t, down, up, hidden & (self.at.hide >= 0))

    def columns(self, released: Pattern, count: int) -> np.ndarray:
        """The inverse of `pattern`: the columns of a release, `count` of them; nan for what a reader may take hidden
        cells and intervals to be. Raises `NoRelease` where a cell has a form that it cannot have."""
        i, at, hidden = self.instance, self.at, released.status == HIDDEN
        if self._of_other_forms(released):
            raise NoRelease("a cell is published in a form that it cannot have")
        t = np.where(self.valued, released.value - i.a, 0.0)
        down, up = (np.where(self.interval & ~hidden, x, 0.0) for x in (i.a - released.low, released.high - i.a))
        u, rounded = np.zeros(count), at.base > 0
        k = (released.value[rounded] - at.first[rounded]) / at.base[rounded]
        near = np.round(k)
        u = self._columns(u, t, down, up, hidden)
        u[at.multiple[rounded]] = np.where(np.abs(k - near) <= NEAR_WHOLE, near, k)
        u[at.guess[at.guess >= 0]] = np.nan
        return at.completed(u)

    def _of_other_forms(self, released: Pattern) -> bool:
        """Whether a cell is published in a form that it cannot have."""
        i, at, status = self.instance, self.at, released.status
        may_be = {HIDDEN: (at.hide >= 0) | i.open_anyway, INTERVAL: self.interval, CHANGED: self.valued}
        exact = (status == EXACT) & ~self.valued & (released.value != i.a)
        return bool(exact.any() or any(((status == form) & ~cells).any() for form, cells in may_be.items()))

    def pattern(self, u: np.ndarray, about: tuple[str, ...] = ()) -> Pattern:
        """What is published: values, intervals, asterisks; the ends of boxes rounded outwards."""
        i = self.instance
        made = self.exact(u)
        assert made is not None
        _, down, up, _ = made
        t, hidden = self._deviations(u)
        assert t is not None
        hidden = hidden | i.open_anyway
        value = np.where(hidden | (self.interval & ((down > 0) | (up > 0))), np.nan, i.a)
        value[self.valued] = self._values(u, t)[self.valued]
        low, high = i.a - down, i.a + up
        low[self.valued], high[self.valued] = (value - self.at.reach)[self.valued], (value + self.at.reach)[self.valued]
        low = np.where(i.a - low < down, np.nextafter(low, -inf), low)
        high = np.where(high - i.a < up, np.nextafter(high, inf), high)
        low, high = np.where(hidden, -inf, low), np.where(hidden, inf, high)
        status = np.where(hidden, HIDDEN, np.where(self.interval & (low < high), INTERVAL, EXACT))
        status = np.where(self.valued, CHANGED, status)
        return Pattern(low, high, value, status, about=about)

    def _values(self, u: np.ndarray, t: np.ndarray) -> np.ndarray:
        """Multiples as they are, and zeros, without the rounding errors of a sum."""
        a = self.instance.a
        moved = np.where(np.abs(a + t) <= NOTHING * np.abs(a), 0.0, a + t)
        return np.where(self.at.base > 0, self._multiples(u), moved)

    def _multiples(self, u: np.ndarray) -> np.ndarray:
        at, v = self.at, np.zeros(self.instance.n)
        rounded = at.base > 0
        r = at.base[rounded]
        v[rounded] = r * (np.round(at.first[rounded] / r) + np.round(u[at.multiple[rounded]]))
        return v
