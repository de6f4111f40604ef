"""A simplex dictionary for few dimensions and many bounded rows, warm from question to question.

The rows are x = R t for t in k dimensions, each row i between lo_i and hi_i, and 0 is inside. The dictionary writes all
rows by k of them,

    x = T x_J,

kept as its transpose, so that the column of an entering row lies in one piece. The objective "move row r" is row r of
T: a new question costs nothing to set up. Rows in J may rest inside their bounds, where the first question finds them
(at 0), and leave only when a question moves them.

Everything is scaled: a row is measured in units of the room it has, so that the box is of size one in all directions
and one tolerance fits all. The entering row is the steepest in that measure. Rounding errors of pivots are watched: a
dictionary whose rows no longer agree with R is computed anew.
"""

from __future__ import annotations

import numpy as np

from sdcdsl.attack.compiled import kernel, reordering_kernel

REACHED, CLOSED, RAY, TIRED = 0, 1, 2, 3

FEASIBLE = 1e-12  # how far outside its bounds, in units of its room, a row may be and still count as inside
SMALL = 1e-9  # coefficients and prices below this are rounding errors
DRIFT = 1e-11  # disagreement of T with R, in units of room, after which T is computed anew
PIVOTS = 200  # pivots between two looks at the drift
STALLED = 25  # steps without progress after which the first eligible row is taken (Bland), which cannot cycle
ROUNDS = 60  # times PIVOTS, after which a question is given up


class Dictionary:
    """The last row is a spare: an objective over several rows (`aim`), without bounds."""

    def __init__(self, rows: np.ndarray, lo: np.ndarray, hi: np.ndarray):
        c, k = rows.shape
        self.room = np.append(_room(lo, hi), 1.0)
        self.rows = np.zeros((c + 1, k))
        self.rows[:c] = rows / self.room[:c, None]
        self.lo, self.hi = self.box(lo, hi)
        self.x = np.zeros(c + 1)
        self.t = np.ascontiguousarray(self.rows.T)
        self.nonbasic = np.zeros(k, dtype=np.int64)
        self._steep = (self.t * self.t).sum(axis=1)  # squared length of each column
        self._push = _push.at(self.t.size)
        self._pivots = 0
        _spanning.at(self.t.size)(self.t, self.nonbasic, self._steep)

    def box(self, lo: np.ndarray, hi: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Bounds of the rows in units of their room."""
        return np.append(lo / self.room[:-1], -np.inf), np.append(hi / self.room[:-1], np.inf)

    def aim(self, rows: np.ndarray, weight: np.ndarray) -> None:
        """Makes the spare row the sum of these rows."""
        self.rows[-1] = weight @ self.rows[rows]
        self.t[:, -1] = self.t[:, rows] @ weight
        self.x[-1] = self.x[rows] @ weight

    def push(self, target: int, sign: float, need: float, lo: np.ndarray, hi: np.ndarray) -> tuple[int, np.ndarray]:
        """Move row `target` up (sign 1) or down as far as the scaled bounds allow, or until `need` (scaled).

        How it ended; the ray in x, if there is no end.
        """
        ray = np.zeros(len(self.x))
        need = min(need, hi[target] if sign > 0 else -lo[target])  # its own end is the end
        for _ in range(ROUNDS):
            ended, pivots = self._push(
                self.t, self.x, self.nonbasic, self._steep, lo, hi, target, sign, need, ray, PIVOTS
            )
            self._pivots += pivots
            if self._drifted():
                self._freshen()
                self._return(lo, hi)
            elif ended != TIRED:
                return ended, ray
        return TIRED, ray

    def home(self) -> None:
        """Back to 0, which is inside every box."""
        self.x[:] = 0.0

    def price(self, target: int) -> tuple[np.ndarray, np.ndarray]:
        """(rows, coefficients) with x_target = Σ coefficient · x, unscaled."""
        column = self.t[:, target]
        used = np.flatnonzero(np.abs(column) > SMALL)
        rows = self.nonbasic[used]
        return rows, column[used] * self.room[target] / self.room[rows]

    def _drifted(self) -> bool:
        off = np.abs(self.x[self.nonbasic] @ self.t - self.x).max(initial=0.0)
        return self._pivots > 0 and not off <= DRIFT  # also if it is not a number

    def _freshen(self) -> None:
        """T = R R_J⁻¹, from R alone."""
        self.t[:] = self.rows.T
        _rewrite.at(self.t.size)(self.t, self.nonbasic, self._steep)
        inside = self.x[self.nonbasic]
        self.x[:] = inside @ self.t
        self.x[self.nonbasic] = inside
        self._pivots = 0

    def _return(self, lo: np.ndarray, hi: np.ndarray) -> None:
        """A point that turns out to lie outside after freshening is no place to start from."""
        if ((self.x > hi + 1e-7) | (self.x < lo - 1e-7)).any():
            self.home()


def _room(lo: np.ndarray, hi: np.ndarray) -> np.ndarray:
    """What counts as one unit in each row: the shorter way to an end, or the only way there is."""
    short, long = np.minimum(hi, -lo), np.maximum(hi, -lo)
    room = np.where(short > 0, short, long)
    return np.where((room > 0) & np.isfinite(room), room, typical_room(lo, hi))


def typical_room(lo: np.ndarray, hi: np.ndarray) -> float:
    """The geometric mean of the rooms there are."""
    short, long = np.minimum(hi, -lo), np.maximum(hi, -lo)
    room = np.where(short > 0, short, long)
    room = room[(room > 0) & np.isfinite(room)]
    return float(np.exp(np.log(room).mean())) if len(room) else 1.0


@reordering_kernel
def _pivot(t, steep, enter, leave):
    """Row `leave` takes the place of the one that place `enter` stood for."""
    k, c = t.shape
    column = t[enter]
    inverse = 1.0 / column[leave]
    for q in range(k):
        f = t[q, leave] * inverse
        if q == enter or f == 0.0:
            continue
        other = t[q]
        length = 0.0
        for i in range(c):
            y = other[i] - f * column[i]
            other[i] = y
            length += y * y
        other[leave] = 0.0
        steep[q] = length
    length = 0.0
    for i in range(c):
        y = column[i] * inverse
        column[i] = y
        length += y * y
    column[leave] = 1.0
    steep[enter] = length


@kernel
def _spanning(t, nonbasic, steep):
    """From R to a first dictionary: each place takes its largest row, which makes for small entries."""
    k, c = t.shape
    for j in range(k):
        leave = 0
        for i in range(c):
            if abs(t[j, i]) > abs(t[j, leave]):
                leave = i
        _pivot(t, steep, j, leave)
        nonbasic[j] = leave


@kernel
def _rewrite(t, nonbasic, steep):
    """From R to the dictionary of given rows: places are dealt out anew, the largest pivot first."""
    k, c = t.shape
    rows = nonbasic.copy()
    for j in range(k):
        place = j
        leave = j
        for q in range(j, k):
            for s in range(j, k):
                if abs(t[q, rows[s]]) > abs(t[place, rows[leave]]):
                    place = q
                    leave = s
        if place != j:
            for i in range(c):
                y = t[j, i]
                t[j, i] = t[place, i]
                t[place, i] = y
        y = rows[j]
        rows[j] = rows[leave]
        rows[leave] = y
        _pivot(t, steep, j, rows[j])
    for j in range(k):
        nonbasic[j] = rows[j]


@kernel
def _push(t, x, nonbasic, steep, lo, hi, target, sign, need, ray, most):
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
            room = np.inf
            if delta > SMALL:
                room = (hi[i] - x[i]) / delta
            elif delta < -SMALL:
                room = (lo[i] - x[i]) / delta
            if room <= first and abs(delta) > size:
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
