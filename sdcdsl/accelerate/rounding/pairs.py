"""Rounded tables of any size: parts one multiple up or down, alone or in pairs, while it gets colder.

A trial costs a fraction of a microsecond, against some ten of `annealing`, which follows a chain until all is well
again. Here nothing has to be well after a trial: a sum outside its window has a price, and that is all. The prices
begin as the multipliers of the relaxation, and a little: what leaves its window is then paid as much as it saves the
rest of the table, so that the loss stays near the bound while the sums come in. Pairs leave the sum that both parts are
in as it is, and with it all larger ones: the total and the margins would hold single parts fast. What is outside at the
end is mended by trials of parts in those sums, at a price that is the same for all.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.sparse import csc_array, csr_array

from sdcdsl.accelerate.rounding.annealing import NEAR, AnnealedTable, Windows, loss_of, outside_of
from sdcdsl.accelerate.rounding.tuning import PAIRS
from sdcdsl.numerics.compiled import kernel

TOGETHER = PAIRS.together
WIDEST = PAIRS.widest


class PairTrials:
    """A table under trial. `multipliers` [row] of the relaxation; rows that were added since have none."""

    def __init__(self, of: Windows, start: np.ndarray, multipliers: np.ndarray, seed: int):
        self.of, self._draw = of, np.random.default_rng(seed)
        movable = np.flatnonzero(of.k_least < of.k_most)
        self.movable = movable
        self._columns = csc_array(csc_array(of.A)[:, movable])
        self._columns.sort_indices()
        self._rows = csr_array(self._columns)
        self._rows.sort_indices()
        self._least, self._most = of.k_least[movable], of.k_most[movable]
        weight = np.concatenate([of.w_down, of.w_up])
        self.size = of.base * (float(np.median(weight[weight > 0])) if (weight > 0).any() else 1.0)
        known = np.zeros(len(of.least))
        known[: len(multipliers)] = multipliers
        self._over, self._under = np.maximum(known, 0.0), np.maximum(-known, 0.0)
        self.trials = 0
        self._chunk = min(PAIRS.chunk, max(PAIRS.a_part * len(movable), PAIRS.least))
        self.begin(start)

    def begin(self, start: np.ndarray) -> None:
        """From these numbers of the parts on."""
        of = self.of
        self._whole = np.clip(np.round(start), of.k_least, of.k_most)
        self._k, self._y = self._whole[self.movable].copy(), of.A @ self._whole
        out = np.flatnonzero((self._y < of.least - NEAR) | (self._y > of.most + NEAR))
        self._broken, self._place = np.zeros(len(self._y), dtype=np.int64), np.full(len(self._y), -1, dtype=np.int64)
        self._broken[: len(out)], self._place[out] = out, np.arange(len(out))
        self._count = np.array([len(out)], dtype=np.int64)

    def cooled(self, trials: int, hot: float, over: Callable[[], bool]) -> None:
        """So many trials while it gets colder and sums outside get dearer."""
        chunks = max(trials // self._chunk, 1)
        for chunk in range(chunks):
            if over():
                return
            at = chunk / max(chunks - 1, 1)
            heat, beyond = hot * (PAIRS.cold / hot) ** at, PAIRS.low + (PAIRS.high - PAIRS.low) * at
            self._some(heat, self._over + beyond * self.size, self._under + beyond * self.size, PAIRS.mending, False)

    def mended(self, over: Callable[[], bool], tries: int = PAIRS.tries) -> AnnealedTable:
        """With all sums in their windows, if that can be had in a moment."""
        price = np.full(len(self._y), PAIRS.price * self.size)
        for _ in range(tries):
            if self._count[0] == 0 or over():
                break
            self._some(PAIRS.warm, price, price, 1.0, True)
        k = self._whole.copy()
        k[self.movable] = self._k
        y = self.of.A @ k  # without what rounding adds up
        return AnnealedTable(k, loss_of(self.of, y), outside_of(self.of, y))

    def _some(self, heat: float, over: np.ndarray, under: np.ndarray, mending: float, until_mended: bool) -> None:
        of, columns, rows = self.of, self._columns, self._rows
        self.trials += self._chunk
        if len(self.movable):
            _tried(
                columns.indptr,
                columns.indices,
                columns.data,
                rows.indptr,
                rows.indices,
                rows.data,
                of.least,
                of.most,
                of.offset,
                of.w_down,
                of.w_up,
                of.base,
                self._least,
                self._most,
                self._k,
                self._y,
                over,
                under,
                heat * self.size,
                self._broken,
                self._place,
                self._count,
                mending,
                until_mended,
                self._draw.random((self._chunk, 7)),
            )


@kernel
def _worth(y, r, least, most, offset, w_down, w_up, base, over, under):  # noqa: PLR0917
    """The loss of a row, and what it costs to be outside its window."""
    t = offset[r] + base * y
    worth = w_up[r] * t if t > 0.0 else -w_down[r] * t
    if y > most[r] + 1e-9:
        worth += over[r] * (y - most[r])
    elif y < least[r] - 1e-9:
        worth += under[r] * (least[r] - y)
    return worth


@kernel
def _change(j, push, start, row, value, y, least, most, offset, w_down, w_up, base, over, under):  # noqa: PLR0917
    """What moving a part changes; and moves the rows."""
    change = 0.0
    for e in range(start[j], start[j + 1]):
        r = row[e]
        before = _worth(y[r], r, least, most, offset, w_down, w_up, base, over, under)
        y[r] += push * value[e]
        change += _worth(y[r], r, least, most, offset, w_down, w_up, base, over, under) - before
    return change


@kernel
def _tried(  # noqa: PLR0917  one loop, compiled as a whole
    start,
    row,
    value,
    row_start,
    row_part,
    row_value,
    least,
    most,
    offset,
    w_down,
    w_up,
    base,
    k_least,
    k_most,
    k,
    y,
    over,
    under,
    heat,
    broken,
    place,
    count,
    mending,
    until_mended,
    chance,
):
    part, way = np.zeros(2, dtype=np.int64), np.zeros(2)
    for trial in range(len(chance)):
        if until_mended and count[0] == 0:
            break
        j, push = int(chance[trial, 1] * len(k)), 1.0 if chance[trial, 0] < 0.5 else -1.0
        if count[0] > 0 and chance[trial, 3] < mending:
            i = broken[int(chance[trial, 0] * count[0])]
            if row_start[i + 1] == row_start[i]:
                continue
            at = row_start[i] + int(chance[trial, 1] * (row_start[i + 1] - row_start[i]))
            j = row_part[at]
            push = 1.0 if (y[i] < least[i]) == (row_value[at] > 0) else -1.0
        if k[j] + push < k_least[j] or k[j] + push > k_most[j]:
            push = -push
            if until_mended or k[j] + push < k_least[j] or k[j] + push > k_most[j]:
                continue
        part[0], way[0], many = j, push, 1
        if chance[trial, 4] < TOGETHER:  # another part of a sum that both are in goes the other way
            e = start[j] + int(chance[trial, 5] * (start[j + 1] - start[j]))
            r = row[e]
            wide = row_start[r + 1] - row_start[r]
            if 1 < wide < WIDEST:
                at = row_start[r] + int(chance[trial, 6] * wide)
                other, back = row_part[at], -push if (value[e] > 0) == (row_value[at] > 0) else push
                if other != j and k_least[other] <= k[other] + back <= k_most[other]:
                    part[1], way[1], many = other, back, 2
        change = 0.0
        for p in range(many):
            change += _change(
                part[p], way[p], start, row, value, y, least, most, offset, w_down, w_up, base, over, under
            )
        if change > 0.0 and chance[trial, 2] >= np.exp(-change / heat):
            for p in range(many):
                for e in range(start[part[p]], start[part[p] + 1]):
                    y[row[e]] -= way[p] * value[e]
            continue
        for p in range(many):
            k[part[p]] += way[p]
            for e in range(start[part[p]], start[part[p] + 1]):
                r = row[e]
                outside = y[r] < least[r] - 1e-9 or y[r] > most[r] + 1e-9
                if outside and place[r] < 0:
                    place[r] = count[0]
                    broken[count[0]] = r
                    count[0] += 1
                elif not outside and place[r] >= 0:
                    count[0] -= 1
                    last = broken[count[0]]
                    broken[place[r]] = last
                    place[last] = place[r]
                    place[r] = -1
