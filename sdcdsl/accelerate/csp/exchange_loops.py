"""Inner loops of `exchange`: groups of cells that stand or fall together, pivots, what a witness certifies, and how far
a cell goes in few directions."""

from __future__ import annotations

import numpy as np

from sdcdsl.numerics.compiled import kernel

ZERO = 1e-8  # entries of a tableau below this are rounding errors
DUST = 1e-11  # and below this they are not even kept
SAME = 1e-7  # relative: keys of cells that move in proportion
ENOUGH = 1 - 1e-9


@kernel
def heaviest_group(u, s, q, weight, barred, keys, index):
    """Cells that move in proportion within the directions at hand and u are published together or not at all: what all
    cells that move weigh, what the heaviest group weighs that holds no barred cell, and one cell of it (-1: none).

    s and q are two random sums of the directions: keys agree where all directions agree, and nowhere else."""
    total, m = 0.0, 0
    for i in range(len(u)):
        if abs(s[i]) > ZERO:
            total += weight[i]
            keys[m] = (q[i] + u[i]) / s[i]
            index[m] = i
            m += 1
        elif abs(u[i]) > ZERO:
            total += weight[i]
    order = np.argsort(keys[:m])
    best, cell, at = 0.0, -1, 0
    while at < m:
        first = keys[order[at]]
        end, heavy, good, some = at, 0.0, True, -1
        while end < m and keys[order[end]] - first <= SAME * (1.0 + abs(first)):
            i = index[order[end]]
            heavy += weight[i]
            good = good and not barred[i]
            if some < 0 or abs(s[i]) > abs(s[some]):
                some = i
            end += 1
        if good and heavy > best:
            best, cell = heavy, some
        at = end
    return total, best, cell


@kernel
def pivot(T, c, j):
    """Column c of the tableau (a row of T) becomes the one of cell j."""
    x = T[c]
    a = x[j]
    moving = np.flatnonzero(x)
    for i in moving:
        x[i] /= a
    for other in range(len(T)):
        t = T[other, j]
        if other != c and t != 0.0:
            row = T[other]
            for i in moving:
                value = row[i] - t * x[i]
                row[i] = value if abs(value) > DUST else 0.0
            row[j] = 0.0


@kernel
def enter(T, owner, order):
    """Publishes cells in this order, as far as they are not determined by others: `owner` says whose a column is."""
    for j in order:
        c, largest = -1, 1e-6
        for other in range(len(T)):
            if owner[other] < 0 and abs(T[other, j]) > largest:
                c, largest = other, abs(T[other, j])
        if c >= 0:
            pivot(T, c, j)
            owner[c] = j


@kernel
def certified(d, sides, slacks, out):
    """Marks the requirements that d certifies, as long as the slack allows, either way round."""
    cell, sign, need, who = sides
    LB, UB = slacks
    for k in range(len(LB)):
        ahead, back = np.inf, np.inf
        for i in range(len(d)):
            v = abs(d[i])
            if v > 0.0:
                low, high = (LB[k, i], UB[k, i]) if d[i] > 0.0 else (UB[k, i], LB[k, i])
                if high < ahead * v:
                    ahead = high / v
                if low < back * v:
                    back = low / v
        for s in range(len(cell)):
            if who[s] == k:
                go = d[cell[s]] * sign[s]
                if (go > 0.0 and go * ahead >= need[s] * ENOUGH) or (go < 0.0 and -go * back >= need[s] * ENOUGH):
                    out[s] = True


@kernel
def reach(directions, p, sign, need, LB, UB, steps):
    """Whether cell p gets as far as it must within the directions (a simplex method from the truth), and a witness."""
    F = directions.copy()
    d = np.zeros(F.shape[1])
    end = np.zeros(len(F))  # of a column: at which end of its slack its cell is; 0 for a direction that is free
    for _ in range(steps):
        c, best, way = -1, 1e-9, 0.0
        for k in range(len(F)):
            go = sign * F[k, p]
            worth = abs(go) if end[k] == 0.0 else -end[k] * go
            if worth > best:
                c, best, way = k, worth, (1.0 if go > 0.0 else -1.0)
        if c < 0:
            break
        x = F[c]
        step, leave, size = (need - sign * d[p]) / abs(x[p]), -1, 0.0
        for i in range(len(d)):
            v = x[i] * way
            if abs(v) > ZERO:
                far = (UB[i] - d[i]) / v if v > 0.0 else (LB[i] + d[i]) / -v
                if far < step * (1 - 1e-12) or (far <= step and leave >= 0 and abs(v) > size):
                    step, leave, size = max(far, 0.0), i, abs(v)
        for i in range(len(d)):
            d[i] += step * way * x[i]
        if leave < 0:
            return True, d
        end[c] = 1.0 if x[leave] * way > 0.0 else -1.0
        pivot(F, c, leave)
    return sign * d[p] >= need * ENOUGH, d
