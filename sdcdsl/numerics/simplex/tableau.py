"""A simplex tableau for few dimensions and many bounded rows, warm from question to question.

The rows are x = R t for t in k dimensions, each row i between lo_i and hi_i, and 0 is inside. The tableau writes all
rows by k of them,

    x = T x_J,

kept as its transpose, so that the column of an entering row lies in one piece. The objective "move row r" is row r of
T: a new question costs nothing to set up. The coordinates t are rows too, without bounds: they are the first J. Rows in
J may rest inside their bounds, where the first question finds them (at 0), and leave only when a question moves them.

Everything is scaled: a row is measured in units of the slack it has, so that the box is of size one in all directions
and one tolerance fits all. The entering row is the steepest in that measure. Rounding errors of pivots are watched: a
tableau whose rows no longer agree with R is computed anew.

Of thousands of rows a few hundred ever stop a move. Large tableaux hold only rows that have done so: a question is
answered with those, the answer is tried on all rows, and where it breaks some it is taken back to where the first of
them stops it, they join the tableau, and it goes on from there.

What it buys: exact audits of suppressed hier13 and hier16 take 0.15 and 3.4 s, by HiGHS 0.31 and 10.1 s.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from sdcdsl.numerics.compiled import kernel
from sdcdsl.numerics.simplex.exchange import exchange
from sdcdsl.numerics.simplex.tuning import TABLEAU

# For the compiled loops, which read names of their module.
PIVOTS = TABLEAU.pivots
STALLED = TABLEAU.stalled

REACHED, CLOSED, RAY, TIRED = 0, 1, 2, 3

FEASIBLE = 1e-12  # how far outside its bounds, in units of its slack, a row may be and still count as inside
OUTSIDE = 1e-11  # and from where on a row that is not in the tableau has to join it
SMALL = 1e-9  # coefficients and prices below this are rounding errors
DRIFT = 1e-10  # disagreement of T with R, in units of slack, after which T is computed anew


@dataclass(frozen=True, eq=False)
class TableauColumns:
    """The columns of a tableau, where they are and between which ends; the column of each row."""

    t: np.ndarray
    value: np.ndarray
    nonbasic: np.ndarray
    steep: np.ndarray
    lo: np.ndarray
    hi: np.ndarray
    column: np.ndarray


class Tableau:
    """The last row is a spare: an objective over several rows (`aim`), without bounds.

    Columns of `_t`: the coordinates, the spare, and the rows that have joined (`_held`).
    """

    def __init__(self, rows: np.ndarray, lo: np.ndarray, hi: np.ndarray):
        c, k = rows.shape
        self.slack = np.append(_slack(lo, hi), 1.0)
        self.rows = np.zeros((c + 1, k))
        self.rows[:c] = rows / self.slack[:c, None]
        self.rows /= np.abs(self.rows).max(axis=0)  # every coordinate in units that move some row by one
        self.lo, self.hi = self.box(lo, hi)
        self._k = k
        self._begin()

    def _begin(self) -> None:
        """All rows by the coordinates, at 0."""
        c, k = len(self.rows) - 1, self._k
        self.x = np.zeros(c + 1)
        self._held = np.full(k + 1, c)  # row of each column; coordinates stand for no row and are never looked up
        self._column = np.full(c + 1, -1)  # column of each row
        self._column[c] = k
        self._t = np.zeros((k, k + 1))
        self._t[:, :k] = np.eye(k)
        self._t[:, k] = self.rows[-1]
        self._value = np.zeros(k + 1)  # of each column
        self.point = np.zeros(k)  # coordinates of x
        self._nonbasic = np.arange(k)
        self._steep = np.ones(k)  # squared length of each column
        self._pivots = 0
        self.eager = c * k <= TABLEAU.eager
        if self.eager:
            self._join(np.arange(c))

    def box(self, lo: np.ndarray, hi: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Bounds of the rows in units of their slack."""
        return np.append(lo / self.slack[:-1], -np.inf), np.append(hi / self.slack[:-1], np.inf)

    def aim(self, rows: np.ndarray, weight: np.ndarray) -> None:
        """Makes the spare row the sum of these rows."""
        self.rows[-1] = weight @ self.rows[rows]
        self._t[:, self._k] = self._t[:, : self._k] @ self.rows[-1]
        self._value[self._k] = self.x[-1] = self.x[rows] @ weight

    def home(self) -> None:
        """Back to 0, which is inside every box."""
        self.x = np.zeros(len(self.rows))
        self._value[:] = 0.0
        self.point = np.zeros(self._k)

    def place(self, rows: np.ndarray, point: np.ndarray, lo: np.ndarray, hi: np.ndarray) -> None:
        """Start from a point inside all ends, with J made of these rows, which are independent of each other."""
        k = self._k
        self.point, self.x = point.copy(), self.rows @ point
        slack = np.minimum(hi - self.x, self.x - lo)[:-1]
        slack[rows] = np.inf
        near = np.argsort(slack, kind="stable")[:k]
        self._held = np.concatenate([np.full(k + 1, len(lo) - 1), rows, near])
        self._column = np.full(len(lo), -1)
        self._column[self._held[k + 1 :]] = k + 1 + np.arange(2 * k)
        self._column[-1] = k
        self._nonbasic = k + 1 + np.arange(k)
        self._value = np.concatenate([point, self.x[self._held[k:]]])
        self._freshen()

    def push(self, target: int, sign: float, need: float, lo: np.ndarray, hi: np.ndarray) -> tuple[int, np.ndarray]:
        """Move row `target` up (sign 1) or down as far as the scaled bounds allow, or until `need` (scaled).

        How it ended; the ray in x, if there is no end.
        """
        if len(self._held) > TABLEAU.held * self._k + TABLEAU.eager // max(self._k, 1):
            self._forget(lo, hi)
        if not self.eager:
            self.home()  # in many dimensions the way from the last vertex is longer
        return self.go_on(target, sign, need, lo, hi)

    def go_on(self, target: int, sign: float, need: float, lo: np.ndarray, hi: np.ndarray) -> tuple[int, np.ndarray]:
        """The same from wherever it is."""
        if self._column[target] < 0:
            self._join(np.array([target]))
        need = min(need, hi[target] if sign > 0 else -lo[target])  # its own end is the end
        ray = np.zeros(0)
        for _ in range(TABLEAU.rounds):
            ended, ray = self._among_held(target, sign, need, lo, hi)
            if ended == RAY:
                ray = self.rows @ ray[: self._k]
                stops = ((ray > SMALL) & (hi < np.inf)) | ((ray < -SMALL) & (lo > -np.inf))
                stops &= self._column < 0
                if not stops.any():
                    return RAY, ray
                self._join(np.flatnonzero(stops)[: TABLEAU.joining])
                continue
            broken = self._settle(lo, hi)
            if ended != TIRED and (not len(broken) or (ended == REACHED and sign * self.x[target] >= need - FEASIBLE)):
                return ended, ray
            self._join(broken)
        return TIRED, ray

    def price(self, target: int) -> tuple[np.ndarray, np.ndarray]:
        """(rows, coefficients) with x_target = Σ coefficient · x, unscaled."""
        column = self._t[:, self._column[target]]
        used = np.flatnonzero(np.abs(column) > SMALL)
        rows = self._held[self._nonbasic[used]]
        return rows, column[used] * self.slack[target] / self.slack[rows]

    # ---- many questions at once, in its own box ---------------------------------------------------------

    @property
    def dimensions(self) -> int:
        return self._k

    @contextmanager
    def held(self) -> Iterator[TableauColumns]:
        """Its inside, for who asks many questions; it goes on from where those leave it."""
        yield TableauColumns(
            self._t, self._value, self._nonbasic, self._steep, *self._ends(self.lo, self.hi), self._column
        )
        self._pivots += 1
        self.point, self.x = self._value[: self._k].copy(), self.rows @ self._value[: self._k]

    def renew(self) -> None:
        """From R alone, at 0."""
        self._freshen()
        self.home()

    def rows_at(self, columns: np.ndarray) -> np.ndarray:
        return self._held[columns]

    # ---- the rows that are held ---------------------------------------------------------------------

    def _ends(self, lo: np.ndarray, hi: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Of the columns; coordinates have none."""
        low, high = lo[self._held], hi[self._held]
        low[: self._k], high[: self._k] = -np.inf, np.inf
        return low, high

    def _among_held(
        self, target: int, sign: float, need: float, lo: np.ndarray, hi: np.ndarray
    ) -> tuple[int, np.ndarray]:
        """Push as if there were no other rows; the ray in columns."""
        low, high = self._ends(lo, hi)
        ray = np.zeros(len(low))
        at = int(self._column[target])
        ended, pivots = push_held.at(self._t.size)(
            self._t, self._value, self._nonbasic, self._steep, low, high, at, sign, need, ray, PIVOTS
        )
        self._pivots += pivots
        off = np.abs(self._value[self._nonbasic] @ self._t - self._value).max(initial=0.0)
        if self._pivots and not off <= DRIFT:  # also if it is not a number
            self._freshen()
            return TIRED, ray
        return ended, ray

    def _settle(self, lo: np.ndarray, hi: np.ndarray) -> np.ndarray:
        """Take over the new point, or as much of the way to it as all rows allow; the rows that stop it."""
        point = self._value[: self._k].copy()
        after = self.rows @ point
        end = np.where(after > hi + OUTSIDE, hi, np.where(after < lo - OUTSIDE, lo, np.nan))
        broken = np.flatnonzero(~np.isnan(end) & (self._column < 0))
        if len(broken):
            way = (end[broken] - self.x[broken]) / (after[broken] - self.x[broken])
            share = float(np.clip(way.min(), 0.0, 1.0))
            point = self.point + share * (point - self.point)
            after = self.x + share * (after - self.x)
            self._value[: self._k] = point
            self._value[self._k :] = after[self._held[self._k :]]
            broken = broken[np.argsort(way, kind="stable")[: TABLEAU.joining]]
        self.x, self.point = after, point
        return broken

    def _join(self, rows: np.ndarray) -> None:
        """Rows become columns."""
        if not len(rows):
            return
        self._column[rows] = len(self._held) + np.arange(len(rows))
        self._held = np.append(self._held, rows)
        more = self._t[:, : self._k] @ self.rows[rows].T
        self._t = np.ascontiguousarray(np.concatenate([self._t, more], axis=1))
        self._value = np.append(self._value, self.x[rows])
        self._steep = (self._t * self._t).sum(axis=1)

    def _forget(self, lo: np.ndarray, hi: np.ndarray) -> None:
        """Of the rows in the tableau only those stay that J is made of, and those nearest to an end."""
        columns = np.arange(len(self._held))
        slack = np.minimum(hi - self.x, self.x - lo)[self._held]
        slack[: self._k + 1] = slack[self._nonbasic] = -np.inf
        stay = np.sort(columns[np.argsort(slack, kind="stable")[: int(TABLEAU.kept * self._k)]])
        place = np.full(len(columns), -1)
        place[stay] = np.arange(len(stay))
        self._column = np.where(self._column >= 0, place[self._column], -1)
        self._held, self._value = self._held[stay], self._value[stay]
        self._nonbasic = place[self._nonbasic]
        self._t = np.ascontiguousarray(self._t[:, stay])

    def _freshen(self) -> None:
        """T = R R_J⁻¹, from R alone; from the beginning where errors have led to rows that depend on each other."""
        k = self._k
        columns = np.concatenate([np.eye(k), self.rows[self._held[k:]].T], axis=1)
        try:
            made = np.linalg.solve(columns[:, self._nonbasic], columns)
        except np.linalg.LinAlgError:
            held = self._held[k + 1 :]
            self._begin()
            self._join(np.setdiff1d(held, np.flatnonzero(self._column >= 0)))
            return
        self._t = np.ascontiguousarray(made)
        self._t[:, self._nonbasic] = np.eye(k)
        self._steep = (self._t * self._t).sum(axis=1)
        inside = self._value[self._nonbasic]
        self._value[:] = inside @ self._t
        self._value[self._nonbasic] = inside
        self._pivots = 0


def _slack(lo: np.ndarray, hi: np.ndarray) -> np.ndarray:
    """What counts as one unit in each row: the shorter way to an end, or the only way there is."""
    short, long = np.minimum(hi, -lo), np.maximum(hi, -lo)
    slack = np.where(short > 0, short, long)
    return np.where((slack > 0) & np.isfinite(slack), slack, typical_slack(lo, hi))


def typical_slack(lo: np.ndarray, hi: np.ndarray) -> float:
    """The geometric mean of the slacks there are."""
    short, long = np.minimum(hi, -lo), np.maximum(hi, -lo)
    slack = np.where(short > 0, short, long)
    slack = slack[(slack > 0) & np.isfinite(slack)]
    return float(np.exp(np.log(slack).mean())) if len(slack) else 1.0


@kernel
def _pivot(t, steep, enter, leave):
    """Row `leave` takes the place of the one that place `enter` stood for."""
    exchange(t, steep, t[:, leave].copy(), enter)
    t[:, leave] = 0.0
    t[enter, leave] = 1.0


@kernel
def push_held(t, x, nonbasic, steep, lo, hi, target, sign, need, ray, most):
    """Move the row in column `target` among those that are held. How it ended, and the number of pivots."""
    k, c = t.shape
    stalled = 0
    pivots = 0
    for _ in range(20 * most):
        if sign * x[target] >= need - FEASIBLE:
            return REACHED, pivots
        if pivots >= most:
            break
        enter = -1
        best = 0.0
        for j in range(k):
            g = sign * t[j, target]
            v = nonbasic[j]
            if (g > SMALL and x[v] < hi[v] - FEASIBLE) or (g < -SMALL and x[v] > lo[v] + FEASIBLE):
                if stalled > STALLED:
                    if enter < 0 or v < nonbasic[enter]:
                        enter = j
                    continue
                if g * g > best * steep[j]:
                    best = g * g / steep[j]
                    enter = j
        if enter < 0:
            return CLOSED, pivots
        column = t[enter]
        way = 1.0 if sign * column[target] > 0.0 else -1.0
        # Of the rows that stop the move first (give or take a tolerance), the one with the largest pivot blocks.
        first = np.inf
        for i in range(c):
            delta = way * column[i]
            if delta > SMALL:
                first = min(first, (hi[i] - x[i] + FEASIBLE) / delta)
            elif delta < -SMALL:
                first = min(first, (lo[i] - x[i] - FEASIBLE) / delta)
        if first == np.inf:
            for i in range(c):
                ray[i] = way * column[i]
            return RAY, pivots
        leave = -1
        size = 0.0
        for i in range(c):
            delta = way * column[i]
            slack = np.inf
            if delta > SMALL:
                slack = (hi[i] - x[i]) / delta
            elif delta < -SMALL:
                slack = (lo[i] - x[i]) / delta
            if slack <= first and abs(delta) > size:
                size = abs(delta)
                leave = i
        end = hi[leave] if way * column[leave] > 0.0 else lo[leave]
        step = max((end - x[leave]) / (way * column[leave]), 0.0)
        for i in range(c):
            x[i] += step * way * column[i]
        x[leave] = end
        stalled = 0 if step > FEASIBLE else stalled + 1
        if leave == nonbasic[enter]:
            continue  # it went from where it was to its own end
        _pivot(t, steep, enter, leave)
        nonbasic[enter] = leave
        pivots += 1
    return TIRED, pivots
