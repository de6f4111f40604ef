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

from sdcdsl.accelerate.forms.bounds import common_step
from sdcdsl.accelerate.rounding.annealing import Windows
from sdcdsl.accelerate.rounding.blocks import within_blocks
from sdcdsl.accelerate.rounding.neighbourhoods import Neighbourhoods
from sdcdsl.deadline import Deadline
from sdcdsl.numerics.milp import MixedIntegerProgram
from sdcdsl.status import OPTIMAL

PRICE = 0.5  # of base · weight, for every multiple that a sum is outside its window: at first
RISING = 8.0  # times that, for all sums, at the end of the time: whoever has less raises it faster
DEARER = 1e4  # times that, for a sum that is outside all the time
MOMENT = 1.5  # seconds for a step
WALL = 3.0  # times that on the wall, where others take their share
FIRST = 5.0  # seconds for the pieces
NARROW = 1e-6  # the gap of a step
PRESOLVE = False  # in HiGHS 1.15 it sometimes writes beyond its memory
CLOSE = 0.9  # of the least by which two losses differ: nearer than that is no better
CHEAP = 0.6  # of the common price: the same for what is outside
NEAR = 1e-6
LONG = 600.0  # seconds: the time that prices have where there is no limit
IDLE = 120  # steps in a row that bring nothing


class Elastic:
    """Numbers `k` of the parts, `y` of the rows, and what it costs to be outside."""

    def __init__(self, of: Windows, relaxed: np.ndarray, seed: int):
        """`relaxed` [part]: where the relaxation stands."""
        self.of, self.seed = of, seed
        self.A, self._columns = csr_array(of.A), csc_array(of.A)
        self._shape_losses()
        weight = 0.5 * (of.w_down + of.w_up)
        typical = float(np.median(weight[weight > 0])) if (weight > 0).any() else 1.0
        self.common = PRICE * of.base * typical
        self.price = np.full(len(of.least), self.common)
        inside = within_blocks(self.A)
        self.k = self._start(relaxed, inside)
        self.y = self.A @ self.k
        self.soft = ~(inside & ~self._out())
        several = np.diff(self.A.indptr) > 1
        self._stated = several | (self._room_over > 0) | (self._room_under > 0) | self._out()

    def _shape_losses(self) -> None:
        """The next multiples of each row and the slope between them; how much steeper it is beyond, and how far that is
        allowed. Where it is not allowed at all, being outside never pays."""
        of = self.of
        costs = (of.w_down > 0) | (of.w_up > 0)
        truth = np.where(costs, -of.offset / of.base, 0.0)
        whole = np.abs(truth - np.round(truth)) <= NEAR
        low = np.where(whole, np.round(truth), np.floor(truth))
        high = np.where(whole, np.round(truth), np.ceil(truth))
        self._low = np.where(costs, np.clip(low, of.least, of.most), of.least)
        self._high = np.where(costs, np.clip(high, of.least, of.most), of.most)
        at_low, at_high = (np.where(np.isfinite(end), end, 0.0) for end in (self._low, self._high))
        wide = at_high > at_low
        above = np.where(costs, self._loss(at_high + 1) - self._loss(at_high), 0.0)
        below = np.where(costs, self._loss(at_low) - self._loss(at_low - 1), 0.0)
        self._room_over, self._room_under = np.zeros(len(costs)), np.zeros(len(costs))
        self._room_over[costs] = of.most[costs] - self._high[costs]
        self._room_under[costs] = self._low[costs] - of.least[costs]
        held = ~wide & (self._room_over == 0) & (self._room_under == 0)
        slope = np.where(wide, self._loss(at_high) - self._loss(at_low), np.where(held, 0.0, above))
        self._over = np.where(self._room_over > 0, above - slope, np.maximum(-slope, 0.0))
        self._under = np.where(self._room_under > 0, slope - below, np.maximum(slope, 0.0))
        self.cost = self._columns.T @ slope  # [part]
        self._step = self._least_difference(self._columns.T @ np.where(held, above, slope))

    def _least_difference(self, cost: np.ndarray) -> float:
        """By which the losses of two tables differ at least, where there is such a number; else 0. Rows that have one
        number to be at say nothing about the loss: they may be taken to have any slope, such as the one above them,
        with which differences often are even."""
        moved = cost[self.of.k_least < self.of.k_most]
        return common_step(np.concatenate([moved, self._over[self._room_over > 0], self._under[self._room_under > 0]]))

    def _loss(self, y: np.ndarray) -> np.ndarray:
        t = self.of.offset + self.of.base * y
        return self.of.w_up * np.maximum(t, 0.0) + self.of.w_down * np.maximum(-t, 0.0)

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
            over=lambda: process_time() - began > FIRST, seconds=WALL * FIRST, seed=self.seed, presolve=PRESOLVE
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
        far = np.maximum(over - self._room_over, 0.0) + np.maximum(under - self._room_under, 0.0)
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
        room_over, room_under = self._room_over[rows], self._room_under[rows]
        over_by, under_by = np.maximum(y - high, 0.0), np.maximum(low - y, 0.0)
        over_in, under_in = np.minimum(over_by, room_over), np.minimum(under_by, room_under)
        over, under, price, endless = self._over[rows], self._under[rows], self.price[rows], np.full(len(rows), np.inf)
        # Columns beyond the next multiples: within the window, then outside of it.
        kinds = (
            (room_over > 0, -1.0, over, room_over, over_in),
            (room_under > 0, 1.0, under, room_under, under_in),
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
        close = min(CLOSE * self._step, CHEAP * self.common)
        solved = problem.solve(
            start=begin,
            gap=NARROW,
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
        self.common *= RISING**share
        self.price[self.outside] *= DEARER**share
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
    idle, none, time = 0, True, min(max(deadline.remaining, MOMENT), LONG)
    while idle < IDLE and left() > 0:
        outside = made.outside
        near = made.near(int(draw.choice(outside))) if len(outside) else None
        way, free = around.drawn(near)
        began = process_time()
        wall = min(WALL * MOMENT, left())
        gain, solved = made.step(free, lambda began=began: left() <= 0 or process_time() - began > MOMENT, wall)
        took = process_time() - began
        around.learn(way, gain, took, solved)
        deadline.mark_time_dependent()  # which neighbourhoods are tried follows from how long they take
        idle = 0 if gain > 0 else idle + 1
        if len(made.outside):
            made.dearer(min(max(took, 0.01) / time, 1.0))
        elif gain > 0 or none:
            none = False
            if not found(made.k):
                return
            made.cheap()
