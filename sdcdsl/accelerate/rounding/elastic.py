"""From the relaxation to a table of multiples: sums may leave their windows, at a price that rises while they do.

A table follows from its parts (`parts`), and so does the loss: each row of y = A k is a sum with its window, or a cut.

    min  Σ_i f_i(y_i) + price_i · (how far y_i is outside its window)          f_i(y) = w |offset_i + base · y|

Of whole numbers f_i is linear between the two multiples next to the truth, so that nothing but the parts has a cost
there; columns are needed for what is further away alone. The sums of small pieces of the table (`blocks`) are in their
windows from the start and stay so. All others start as the relaxation, rounded within each piece, has them: most come
out right, some do not. A step frees the parts of some slices (`neighbourhoods`), keeps all others, and solves the
mixed-integer problem that is left. Prices are less at first than what a multiple is worth: the loss stays near that of
the relaxation, or below it, while most sums come in. Then all of them get dearer, and most of all what is left outside.
Tables that come into their windows last are good ones; those that are within them from the start and are improved from
there end further from the relaxation.
"""

from __future__ import annotations

from collections.abc import Callable
from time import process_time
from typing import Any

import numpy as np
from scipy.sparse import csc_array, csr_array, hstack

from sdcdsl.accelerate.rounding.annealing import Windows
from sdcdsl.accelerate.rounding.blocks import within_blocks
from sdcdsl.accelerate.rounding.losses import losses_of
from sdcdsl.accelerate.rounding.neighbourhoods import Neighbourhoods
from sdcdsl.accelerate.rounding.tuning import ELASTIC
from sdcdsl.deadline import Deadline
from sdcdsl.numerics.milp import MixedIntegerProgram
from sdcdsl.status import OPTIMAL

PRESOLVE = False  # in HiGHS 1.15 it sometimes writes beyond its memory
NEAR = 1e-6


class Elastic:
    """Numbers `k` of the parts, `y` of the rows, and what it costs to be outside."""

    def __init__(self, of: Windows, relaxed: np.ndarray, seed: int):
        """`relaxed` [part]: where the relaxation stands."""
        self.of, self.seed = of, seed
        self.A, self._columns = csr_array(of.A), csc_array(of.A)
        losses = losses_of(of)
        self._low, self._high, self._over, self._under = losses.low, losses.high, losses.over, losses.under
        self._slack_over, self._slack_under = losses.slack_over, losses.slack_under
        self.cost, self._step = losses.cost, losses.step
        weight = 0.5 * (of.w_down + of.w_up)
        typical = float(np.median(weight[weight > 0])) if (weight > 0).any() else 1.0
        self.common = ELASTIC.price * of.base * typical
        self.price = np.full(len(of.least), self.common)
        inside = within_blocks(self.A)
        self.k = self._start(relaxed, inside)
        self.y = self.A @ self.k
        self.soft = ~(inside & ~self._out())
        several = np.diff(self.A.indptr) > 1
        self._stated = several | (self._slack_over > 0) | (self._slack_under > 0) | self._out()

    def _out(self) -> np.ndarray:
        return (self.y < self.of.least - NEAR) | (self.y > self.of.most + NEAR)

    def _start(self, relaxed: np.ndarray, inside: np.ndarray) -> np.ndarray:
        """The relaxation, each number rounded, up or down so that sums within pieces are in their windows if that can
        be done: as little as possible against the fractions."""
        of = self.of
        held = np.flatnonzero(inside)
        lower = np.clip(np.floor(relaxed + NEAR), of.k_least, of.k_most)
        upper = np.clip(np.ceil(relaxed - NEAR), of.k_least, of.k_most)
        problem = MixedIntegerProgram(
            1.0 - 2.0 * (relaxed - np.floor(relaxed + NEAR)),
            lower,
            upper,
            np.ones(len(relaxed), dtype=bool),
            self.A[held],
            of.least[held],
            of.most[held],
        )
        began = process_time()
        solved = problem.solve(
            over=lambda: process_time() - began > ELASTIC.first,
            seconds=ELASTIC.wall * ELASTIC.first,
            seed=self.seed,
            presolve=PRESOLVE,
        )
        return np.clip(np.round(relaxed if solved.x is None else solved.x), of.k_least, of.k_most)

    @property
    def outside(self) -> np.ndarray:
        """Rows beyond their windows."""
        return np.flatnonzero(self._out())

    def near(self, row: int) -> np.ndarray:
        """The parts of the row."""
        return self.A.indices[self.A.indptr[row] : self.A.indptr[row + 1]]

    def judged(self) -> float:
        """The loss, and the price of what is outside; up to a constant."""
        over, under = np.maximum(self.y - self._high, 0.0), np.maximum(self._low - self.y, 0.0)
        far = np.maximum(over - self._slack_over, 0.0) + np.maximum(under - self._slack_under, 0.0)
        return float(self.cost @ self.k + self._over @ over + self._under @ under + self.price @ far)

    def step(self, free: np.ndarray, ends: Callable[[], bool], seconds: float) -> tuple[float, bool]:
        """`free` [part]; `ends` says when it is enough, `seconds` on the wall at the latest. What the step gained, and
        whether it was solved to the end."""
        of = self.of
        parts = np.flatnonzero(free & (of.k_least < of.k_most))
        moved: Any = csr_array(self._columns[:, parts])
        rows = np.flatnonzero((np.diff(moved.indptr) > 0) & self._stated)
        k, y, soft = self.k[parts], self.y[rows], self.soft[rows]
        low, high = self._low[rows], self._high[rows]
        slack_over, slack_under = self._slack_over[rows], self._slack_under[rows]
        over_by, under_by = np.maximum(y - high, 0.0), np.maximum(low - y, 0.0)
        over_in, under_in = np.minimum(over_by, slack_over), np.minimum(under_by, slack_under)
        over, under, price, endless = self._over[rows], self._under[rows], self.price[rows], np.full(len(rows), np.inf)
        # Columns beyond the next multiples: within the window, then outside of it.
        kinds = (
            (slack_over > 0, -1.0, over, slack_over, over_in),
            (slack_under > 0, 1.0, under, slack_under, under_in),
            (soft & np.isfinite(high), -1.0, over + price, endless, over_by - over_in),
            (soft, 1.0, under + price, endless, under_by - under_in),
        )
        rest = y - moved[rows] @ k
        matrices, cost, upper, start = [moved[rows]], [self.cost[parts]], [of.k_most[parts]], [k]
        for has, sign, worth, most, now in kinds:
            at = np.flatnonzero(has)
            matrices.append(csr_array((np.full(len(at), sign), (at, np.arange(len(at)))), shape=(len(rows), len(at))))
            cost.append(worth[at])
            upper.append(most[at])
            start.append(now[at])
        costs, begin = np.concatenate(cost), np.concatenate(start)
        problem = MixedIntegerProgram(
            costs,
            np.concatenate([of.k_least[parts], np.zeros(len(costs) - len(parts))]),
            np.concatenate(upper),
            np.arange(len(costs)) < len(parts),
            csr_array(hstack(matrices)),
            low - rest,
            high - rest,
        )
        close = min(ELASTIC.close * self._step, ELASTIC.cheap * self.common)
        solved = problem.solve(
            start=begin,
            gap=ELASTIC.narrow,
            absolute_gap=close,
            over=ends,
            seconds=seconds,
            seed=self.seed,
            presolve=PRESOLVE,
        )
        before = self.judged()
        if solved.x is None:
            return 0.0, False
        was = self.k.copy(), self.y
        self.k[parts] = np.round(solved.x[: len(parts)])
        self.y = self.A @ self.k
        gain = before - self.judged()
        if gain <= NEAR * self.common:
            self.k, self.y = was
            gain = 0.0
        return gain, solved.status == OPTIMAL

    def cheap(self) -> None:
        """The same price for all sums again."""
        self.price[:] = self.common

    def dearer(self, share: float) -> None:
        """After a step that took this share of the time. The common price rises too: else sums take turns outside."""
        self.common *= ELASTIC.rising**share
        self.price[self.outside] *= ELASTIC.dearer**share
        self.price = np.maximum(self.price, self.common)


def elastic(
    of: Windows,
    relaxed: np.ndarray,
    around: Neighbourhoods,
    deadline: Deadline,
    left: Callable[[], float],
    seed: int,
    found: Callable[[np.ndarray], bool],
) -> None:
    """As long as there are seconds `left`; prices have risen at the `deadline`. `found` takes numbers of the parts
    with all sums in their windows, and says whether to go on. From there all sums have the common price: what is within
    all windows has neighbours, through others that are not, which cost less."""
    made, draw = Elastic(of, relaxed, seed), np.random.default_rng(seed)
    stalled, none, time = 0, True, min(max(deadline.remaining, ELASTIC.moment), ELASTIC.long)
    while stalled < ELASTIC.stalled and left() > 0:
        outside = made.outside
        near = made.near(int(draw.choice(outside))) if len(outside) else None
        way, free = around.drawn(near)
        began = process_time()
        wall = min(ELASTIC.wall * ELASTIC.moment, left())
        gain, solved = made.step(free, lambda began=began: left() <= 0 or process_time() - began > ELASTIC.moment, wall)
        took = process_time() - began
        around.learn(way, gain, took, solved)
        deadline.mark_time_dependent()  # which neighbourhoods are tried follows from how long they take
        stalled = 0 if gain > 0 else stalled + 1
        if len(made.outside):
            made.dearer(min(max(took, 0.01) / time, 1.0))
        elif gain > 0 or none:
            none = False
            if not found(made.k):
                return
            made.cheap()
