"""From the relaxation to a table of multiples: sums may leave their windows, at a price that rises while they do.

The parts are rounded as the relaxation has them; most sums come out right, some do not. A step frees the parts of some
slices (`neighbourhoods`), keeps all others, and solves the mixed-integer problem in which every multiple beyond a
window costs its price. At first that is little more than what a multiple is worth: the loss stays near that of the
relaxation while most sums come in. Then all of them get dearer, and most of all what is left outside. Tables that come
into their windows last are good ones; those that are within them from the start and are improved from there end further
from the relaxation.
"""

from __future__ import annotations

from collections.abc import Callable
from time import process_time
from typing import Any

import numpy as np
from scipy.sparse import csc_array, csr_array, eye_array, hstack

from sdcdsl.methods.mixed.forms import Formed
from sdcdsl.methods.mixed.search import Search
from sdcdsl.methods.result import Clock
from sdcdsl.methods.rounding.neighbourhoods import Neighbourhoods
from sdcdsl.methods.rounding.parts import Parts
from sdcdsl.solve.master import OPTIMAL, Master, Row

PRICE = 1.5  # of base · weight, for every multiple that a sum is outside its window: at first
RISING = 40.0  # times that, for all sums, at the end of the time: whoever has less raises it faster
DEARER = 1e4  # times that, for a sum that is outside all the time
MOMENT = 1.5  # seconds for a step
NARROW = 1e-5  # its gap
NEAR = 1e-6
LONG = 600.0  # seconds: the time that prices have where there is no limit
IDLE = 120  # steps in a row that bring nothing


class Elastic:
    """The master of a search with room beyond the windows of sums; of its columns the first are those of the search."""

    def __init__(self, search: Search, at: Formed, parts: Parts):
        self.search, self.at, self.parts = search, at, parts
        of = search.master
        own = at.multiple[parts.cells]
        cells = parts.rows[parts.rounded]
        self.sums = np.setdiff1d(at.multiple[cells], own)
        self.count, self.own = len(of.cost), own
        self.least, self.most = of.lower[self.sums].copy(), of.upper[self.sums].copy()
        worth = 0.5 * (search.instance.w_up + search.instance.w_down)[cells] * at.base[cells] / search._scale
        self.price = PRICE * (float(np.median(worth[worth > 0])) if (worth > 0).any() else 1.0)
        self.x = self._start()
        self.master = self._master()
        self._rows_of = csc_array(parts.T)

    def _start(self) -> np.ndarray:
        """Columns of the search, of the parts as the relaxation has them, rounded."""
        of, at, parts, own = self.search.master, self.at, self.parts, self.parts.rounded
        relaxed = self.search.relaxed_at
        assert relaxed is not None
        k = np.clip(np.round(relaxed[self.own]), of.lower[self.own], of.upper[self.own])
        u = np.zeros(self.count)
        u[at.multiple[parts.rows[own]]] = np.round(np.asarray(parts.T @ k))[own] + parts.shift[own]
        return at.completed(u) / self.search.problem.unit

    def _master(self) -> Master:
        """Columns of the search; how far each sum is over and under its window, and how much each cut lacks."""
        of, sums, stated = self.search.master, self.sums, self.search.stated
        cuts = of.rows - stated
        lack = np.zeros(0)
        if cuts:
            lack = np.maximum(of.rhs - of.matrix @ self.x, 0.0)[stated:]
        over, under = self._outside()
        far = max(float(max(over.max(initial=0.0), under.max(initial=0.0))), 1.0)  # as far as they are at the start
        lower, upper = of.lower.copy(), of.upper.copy()
        lower[sums], upper[sums] = self.least - far, self.most + far
        for _, _, *counts in self.at.beyond:  # multiples further than the next are counted as far
            for count in counts:
                upper[count] += far / self.search.problem.unit[count]
        extra = 2 * len(sums) + cuts
        master = Master(
            np.concatenate([of.cost, np.full(extra, self.price)]),
            np.concatenate([lower, np.zeros(extra)]),
            np.concatenate([upper, np.full(2 * len(sums), far), np.full(cuts, np.inf)]),
            np.isin(np.arange(self.count + extra), self.own),
        )
        # -k + over ≥ -most,  k + under ≥ least
        first, one = self.count + np.arange(len(sums)), np.ones(2)
        rows: list[Row] = [
            (np.array([k, o]), one * [-1, 1], -most)
            for k, o, most in zip(sums.tolist(), first.tolist(), self.most.tolist(), strict=True)
        ]
        rows += [
            (np.array([k, o]), one, least)
            for k, o, least in zip(sums.tolist(), (first + len(sums)).tolist(), self.least.tolist(), strict=True)
        ]
        A: Any = csr_array(of.matrix)
        lacking = csr_array(hstack([A[stated:], eye_array(cuts)])) if cuts else None
        equal = of.equations
        for which in (True, False):
            chosen = np.flatnonzero(equal[:stated] == which)
            master.add([_row(A, r, of.rhs[r]) for r in chosen.tolist()], which)
        master.add(rows)
        if lacking is not None:
            place = np.concatenate([np.arange(self.count), self.count + 2 * len(sums) + np.arange(cuts)])
            master.add(
                (place[columns], values, right)
                for columns, values, right in (_row(lacking, r, of.rhs[stated + r]) for r in range(cuts))
            )
        self.x = np.concatenate([self.x, over, under, lack])
        return master

    def _outside(self) -> tuple[np.ndarray, np.ndarray]:
        k = np.round(self.x[self.sums])
        return np.maximum(k - self.most, 0.0), np.maximum(self.least - k, 0.0)

    @property
    def outside(self) -> np.ndarray:
        """Columns of what is beyond a window, or missing from a cut."""
        return self.count + np.flatnonzero(self.x[self.count :] > NEAR)

    def near(self, column: int) -> np.ndarray:
        """The parts of the sum that this column is about; none for a cut."""
        number = column - self.count
        if number >= 2 * len(self.sums):
            return np.zeros(0, dtype=np.int64)
        cell = int(np.flatnonzero(self.at.multiple == self.sums[number % len(self.sums)])[0])
        row = int(np.flatnonzero(self.parts.rows == cell)[0])
        T = self.parts.T
        return T.indices[T.indptr[row] : T.indptr[row + 1]]

    def step(self, free: np.ndarray, seconds: float, seed: int) -> tuple[float, bool]:
        """`free` [part]. What the step gained, and whether it was solved to the end."""
        master, at = self.master, self.at
        moved: Any = self._rows_of[:, np.flatnonzero(free)]
        columns = at.multiple[self.parts.rows[np.unique(moved.indices)]]
        mask = np.zeros(len(master.cost), dtype=bool)
        mask[columns[columns >= 0]] = True
        for k, _, *counts in at.beyond:
            for count in counts:
                mask[count] = mask[k]
        mask[self.count :] = np.concatenate([mask[self.sums], mask[self.sums], np.ones(self._cuts, dtype=bool)])
        mask &= master.lower < master.upper
        before = float(master.cost @ self.x)
        solved = master.solve_around(self.x, mask, gap=NARROW, seconds=seconds, seed=seed)
        if solved.x is None or solved.objective >= before - NEAR:
            return 0.0, solved.status == OPTIMAL
        self.x = solved.x
        return before - solved.objective, solved.status == OPTIMAL

    @property
    def _cuts(self) -> int:
        return len(self.x) - self.count - 2 * len(self.sums)

    def cheap(self) -> None:
        """The same price for all sums again."""
        self.master.cost[self.count :] = self.price

    def dearer(self, share: float) -> None:
        """After a step that took this share of the time. The common price rises too: else sums take turns outside."""
        self.price *= RISING**share
        self.master.cost[self.outside] *= DEARER**share
        self.master.cost[self.count :] = np.maximum(self.master.cost[self.count :], self.price)


def elastic(
    search: Search,
    at: Formed,
    parts: Parts,
    around: Neighbourhoods,
    clock: Clock,
    seed: int,
    found: Callable[[np.ndarray], bool],
) -> None:
    """`found` takes columns of the search with all sums in their windows, and says whether to go on. From there all
    sums have the common price: what is within all windows has neighbours, through others that are not, which cost less.
    """
    if search.relaxed_at is None or not parts.rounded.any():
        return
    made, draw, idle, time = (
        Elastic(search, at, parts),
        np.random.default_rng(seed),
        0,
        min(max(clock.left, MOMENT), LONG),
    )
    while idle < IDLE and not search.over(clock):
        outside = made.outside
        near = made.near(int(draw.choice(outside))) if len(outside) else None
        way, free = around.drawn(near)
        began = process_time()
        gain, solved = made.step(free, min(MOMENT, clock.left), seed)
        took = process_time() - began
        around.learn(way, gain, took, solved)
        clock.strike()  # which neighbourhoods are tried follows from how long they take
        idle = 0 if gain > 0 else idle + 1
        if len(made.outside):
            made.dearer(min(max(took, 0.01) / time, 1.0))
        elif gain > 0 or not search.best:
            if not found(made.x[: made.count]):
                return
            made.cheap()


def _row(A: csr_array, r: int, right: float) -> Row:
    part = slice(A.indptr[r], A.indptr[r + 1])
    return A.indices[part], A.data[part], float(right)
