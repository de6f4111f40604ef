"""The revised simplex method in some dozens of dimensions, from corner to corner and from question to question.

Where a tableau x = T x_J is too large to be kept, only W = R_J⁻¹ is, k by k, in coordinates in which RᵀR is the
identity: there the length of a direction is the length of its column of T, and the steepest edge is known for nothing.
A column of T is one product of rows with a direction. Of a thousand rows a few hundred are near enough to stop a move:
it is made with those, the end is tried on all rows, and where it breaks some it is taken back to where the first of
them stops it, they are looked at too, and it goes on from there.

Every question starts from the corner, among those that were found before, where its row is furthest. For releases that
are just wide enough everywhere, where hundreds of rows meet in one corner, that is no way (`interior_point` is).

What it buys: about fifty pivots a question from a corner near by, where an interior path starts from the middle. Where
a tableau holds all rows (hier13, hier16 suppressed) it is not asked.
"""

from __future__ import annotations

import numpy as np

from sdcdsl.numerics.compiled import kernel, reordering_kernel
from sdcdsl.numerics.simplex.batched import ENOUGH, NOBODY, BatchedTargets, BatchResult, close, credit
from sdcdsl.numerics.simplex.exchange import exchange
from sdcdsl.numerics.simplex.tableau import CLOSED, DRIFT, FEASIBLE, OUTSIDE, RAY, REACHED, SMALL, TIRED
from sdcdsl.numerics.simplex.tuning import REVISED, TABLEAU

# For the compiled loops, which read names of their module.
PIVOTS = TABLEAU.pivots
PATIENCE = REVISED.patience
JOINING = REVISED.joining
FEW = REVISED.few
MOST = REVISED.most
LESS = REVISED.less
MORE = REVISED.more

SOUND = 1e-7  # a pivot smaller than this leads to rows that depend on each other


class RevisedSimplex:
    """Rows R between lo and hi, with 0 inside, all in units of the rows' slacks. Keeps no more corners than take the
    slack of the rows themselves."""

    def __init__(self, rows: np.ndarray, lo: np.ndarray, hi: np.ndarray):
        c, k = rows.shape
        self.lo, self.hi = lo, hi
        lower = np.linalg.cholesky(rows.T @ rows)
        self.back = np.linalg.inv(lower).T  # from the new coordinates to the old ones
        self.rows = np.ascontiguousarray(rows @ self.back)
        self._length = np.linalg.norm(self.rows, axis=1)
        some = min(4 * k, c - 1)
        self._near = float(np.partition(np.minimum(hi, -lo) / np.maximum(self._length, SMALL), some)[some])
        keep = max(c // k, 1)
        self._kept = np.zeros((keep, k, k)), np.zeros((keep, k)), np.full((keep, k), NOBODY), np.zeros((keep, k))
        self._count = 0

    def answer_all(self, goals: BatchedTargets) -> BatchResult:
        """What is left open is for others to ask."""
        n, k = len(goals.row), len(self.back)
        reached, closed, by = np.zeros(n), np.zeros(n, dtype=np.bool_), np.full(n, NOBODY)
        end = np.where(goals.way > 0, self.hi[goals.row], -self.lo[goals.row])
        points, prices, support = np.zeros((n, k)), np.zeros((n, k)), np.zeros((n, k), dtype=np.int64)
        over, count = np.zeros(n, dtype=np.bool_), np.array([0, self._count])
        done = -1
        while done < n - 1:
            w, basis, t, x = np.eye(k), np.full(k, NOBODY), np.zeros(k), np.zeros(len(self.lo))
            done, self._near = _sweep.at(self.rows.size)(
                self.rows, self._length, self._near, w, np.ones(k), basis, t, x, self.lo, self.hi, goals.row, goals.way,
                np.minimum(goals.need, end), goals.least, end, goals.twin, reached, closed, by, over, points, prices,
                support, *self._kept, count, done + 1,
            )  # fmt: skip
        self._count, answers = int(count[1]), int(count[0])
        return BatchResult(reached, closed, by, points[:answers] @ self.back.T, support[:answers], prices[:answers])


@reordering_kernel
def _ways(v, way, x, lo, hi, out):
    """How far each row lets the move go, give or take a tolerance."""
    for i in range(len(v)):
        d = way * v[i]
        size = abs(d)
        slack = hi[i] - x[i] if d > 0.0 else x[i] - lo[i]
        out[i] = (slack + FEASIBLE) / size if size > SMALL else np.inf


@kernel
def _primal_simplex(full, w, steep, basis, t, x, lo, hi, goal, sign, need):
    """Among the rows that are looked at: x, lo and hi are theirs, and `basis` the places of J among them. How it ended,
    and the number of pivots."""
    k = len(basis)
    ways = np.zeros(len(x))
    g = np.dot(w, goal)
    at = np.dot(goal, t)
    pivots = 0
    for _ in range(2 * PIVOTS):
        if sign * at >= need - FEASIBLE:
            return REACHED, pivots
        if pivots >= PIVOTS:
            break
        enter = -1
        best = 0.0
        for j in range(k):
            price = sign * g[j]
            b = basis[j]
            if b < 0:
                moves = abs(price) > SMALL
            else:
                moves = (price > SMALL and x[b] < hi[b] - FEASIBLE) or (price < -SMALL and x[b] > lo[b] + FEASIBLE)
            if moves and price * price > best * steep[j]:
                best = price * price / steep[j]
                enter = j
        if enter < 0:
            return CLOSED, pivots
        way = 1.0 if sign * g[enter] > 0.0 else -1.0
        direction = w[enter]
        v = np.dot(full, direction)
        for j in range(k):  # whatever rounding says
            if basis[j] >= 0:
                v[basis[j]] = 1.0 if j == enter else 0.0
        # Of the rows that stop the move first (give or take a tolerance), the one with the largest pivot blocks.
        _ways(v, way, x, lo, hi, ways)
        first = np.inf
        for i in range(len(x)):
            first = min(first, ways[i])
        leave = -1
        size = 0.0
        for i in range(len(x)):
            if ways[i] < np.inf and (ways[i] - first) * abs(v[i]) <= FEASIBLE and abs(v[i]) > size:
                size = abs(v[i])
                leave = i
        if size < SOUND:
            return RAY, pivots  # nothing stops it, or nothing that one can rely on
        end = hi[leave] if way * v[leave] > 0.0 else lo[leave]
        step = max((end - x[leave]) / (way * v[leave]), 0.0)
        for i in range(len(x)):
            x[i] += step * way * v[i]
        for j in range(k):
            t[j] += step * way * direction[j]
        at += step * way * g[enter]
        x[leave] = end
        if leave == basis[enter]:
            continue  # it went from where it was to its own end
        f = np.dot(w, full[leave])
        price = g[enter] / f[enter]
        for q in range(k):
            g[q] -= f[q] * price
        g[enter] = price
        exchange(w, steep, f, enter)
        basis[enter] = leave
        pivots += 1
    return TIRED, pivots


@kernel
def _look(length, basis, x, lo, hi, near, held, place):
    """The rows of J, then those that are nearer to an end than `near`; how many."""
    count = 0
    place[:] = -1
    for j in range(len(basis)):
        if basis[j] >= 0:
            held[count] = basis[j]
            place[basis[j]] = count
            count += 1
    for i in range(len(x)):
        if place[i] < 0 and min(hi[i] - x[i], x[i] - lo[i]) < near * length[i]:
            held[count] = i
            place[i] = count
            count += 1
    return count


@kernel
def _push(rows, length, near, w, steep, basis, t, x, lo, hi, goal, sign, need):
    """As far as all rows allow, or until `need`. How it ended, and how many rows were looked at."""
    c, k = rows.shape
    held, place, at = np.zeros(c, np.int64), np.zeros(c, np.int64), np.zeros(k, np.int64)
    full = np.empty((c, k))
    count = _look(length, basis, x, lo, hi, near, held, place)
    for a in range(count):
        full[a] = rows[held[a]]
    total = 0
    while total < PATIENCE:
        mine = held[:count]
        low, high, now = lo[mine], hi[mine], x[mine]
        before = t.copy()
        for j in range(k):
            at[j] = -1 if basis[j] < 0 else place[basis[j]]
        ended, pivots = _primal_simplex(full[:count], w, steep, at, t, now, low, high, goal, sign, need)
        for j in range(k):
            basis[j] = -1 if at[j] < 0 else held[at[j]]
        total += pivots + 1
        if ended == RAY:
            return TIRED, count
        after = np.dot(rows, t)
        off = 0.0
        for a in range(count):
            off = max(off, abs(now[a] - after[held[a]]))
        if not off <= DRIFT:  # also if it is not a number
            return TIRED, count
        share = np.full(c, np.inf)
        least = 1.0
        broken = 0
        for i in range(c):
            if place[i] < 0 and (after[i] > hi[i] + OUTSIDE or after[i] < lo[i] - OUTSIDE):
                end = hi[i] if after[i] > hi[i] else lo[i]
                share[i] = max((end - x[i]) / (after[i] - x[i]), 0.0)
                least = min(least, share[i])
                broken += 1
        for i in range(c):
            x[i] += least * (after[i] - x[i])
        for j in range(k):
            t[j] = before[j] + least * (t[j] - before[j])
        if broken == 0:
            for j in range(k):
                if at[j] >= 0:
                    x[basis[j]] = now[at[j]]
        if ended != TIRED and (broken == 0 or (ended == REACHED and sign * np.dot(goal, t) >= need - FEASIBLE)):
            return ended, count
        order = np.argsort(share)
        for a in range(min(broken, JOINING)):
            i = order[a]
            held[count] = i
            place[i] = count
            full[count] = rows[i]
            count += 1
    return TIRED, count


@kernel
def _sweep(
    rows, length, near, w, steep, basis, t, x, lo, hi, row, way, need, least, end, twin, reached, closed, by, over,
    points, prices, support, kept_w, kept_steep, kept_basis, kept_t, count, first,
):  # fmt: skip
    """From question `first` on; `count` has the number of answers and of corners that were kept. The question it gives
    up, or the last one, and the distance `near` that is right."""
    k = len(basis)
    for a in range(first, len(row)):
        if over[a] or closed[a] or reached[a] >= need[a] * ENOUGH:
            continue
        goal = rows[row[a]]
        best = -1
        most = way[a] * np.dot(goal, t) + SMALL
        for p in range(min(count[1], len(kept_t))):
            far = way[a] * np.dot(goal, kept_t[p])
            if far > most:
                best = p
                most = far
        if best >= 0:
            w[:], steep[:], basis[:], t[:] = kept_w[best], kept_steep[best], kept_basis[best], kept_t[best]
            x[:] = np.dot(rows, t)
        ended, looked = _push(rows, length, near, w, steep, basis, t, x, lo, hi, goal, way[a], need[a])
        if ended > CLOSED:
            return a, near
        near *= LESS if looked > MOST * k else (MORE if looked < FEW * k else 1.0)
        points[count[0]], prices[count[0]], support[count[0]] = t, np.dot(w, goal), basis
        p = count[1] % len(kept_t)
        kept_w[p], kept_steep[p], kept_basis[p], kept_t[p] = w, steep, basis, t
        count[1] += 1
        credit(x, lo, hi, row, way, end, reached, closed)
        if ended == CLOSED:
            close(row, way, a, max(way[a] * x[row[a]], 0.0), least, twin, count[0], reached, closed, by, over)
        count[0] += 1
    return len(row) - 1, near
