"""Cuts that a capacity cut implies for whole numbers: its knapsack covers.

A capacity cut  Σ a_i x_i ≥ 1,  0 ≤ a_i ≤ 1,  requires enough slack in all. Let Q be classes that do not give it,
a(Q) < 1. Even with all of Q hidden the others have to give the rest, and none of them more than all of it:

    Σ_{i ∉ Q} min(a_i / (1 - a(Q)), 1) x_i ≥ 1      for every x that is 0 or 1

A relaxation hides a large class by a small share, as if that gave a share of its slack at a share of its cost; beside
what Q gives, it would be little. Which Q says most at a point is a hard question: here classes enter one by one, each
time the one with which the point is violated most.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from sdcdsl.accelerate.cutting.tuning import TUNING
from sdcdsl.numerics.compiled import kernel

MOST_ENTERING, HIDDEN = TUNING.most_entering, TUNING.hidden  # compiled code reads names of modules
LACKING = 1e-6  # less than this is not certain to be lacking
UPWARDS = 1 + 1e-12  # what is rounded may weaken a cut, never the other way

Row = tuple[np.ndarray, np.ndarray, float]


def covers(rows: csr_array, x: np.ndarray, least: float) -> list[Row]:
    """Covers that x violates by more than `least`, at most one a row. Rows are a x ≥ 1 with 0 ≤ a ≤ 1."""
    start, columns, a = rows.indptr.astype(np.int64), rows.indices, np.asarray(rows.data, dtype=np.float64)
    share = np.ascontiguousarray(x[columns])
    row = np.repeat(np.arange(len(start) - 1), np.diff(start))
    order = np.lexsort((-share, row)).astype(np.int64)  # in each row, those first that are hidden most
    step, steps = np.zeros(len(a), dtype=np.int64), np.zeros(len(start) - 1, dtype=np.int64)
    _enter.at(len(a))(start, order, a, share, least, step, steps)
    out: list[Row] = []
    for r in np.flatnonzero(steps).tolist():
        span = slice(start[r], start[r + 1])
        inside = (step[span] > 0) & (step[span] <= steps[r])
        lacking = 1.0 - float(a[span][inside].sum())
        values = np.minimum(a[span][~inside] / lacking * UPWARDS, 1.0)
        out.append((columns[span][~inside], values, 1.0))
    return out


@kernel
def _enter(start, order, a, share, least, step, steps):
    """Numbers the entries that enter Q, row by row, and says after how many of them x is violated most; 0 for never."""
    for r in range(len(steps)):
        begin, end = start[r], start[r + 1]
        lacking, best = 1.0, least
        for entered in range(min(MOST_ENTERING, end - begin)):
            pick, most = -1, -np.inf
            for k in range(begin, min(begin + MOST_ENTERING, end)):
                e = order[k]
                if share[e] < HIDDEN:
                    break
                after = lacking - a[e]
                if step[e] > 0 or after < LACKING:
                    continue
                given = 0.0
                for q in range(begin, end):
                    i = order[q]
                    if share[i] <= 0.0:
                        break
                    if step[i] == 0 and i != e:
                        given += min(a[i] / after, 1.0) * share[i]
                if 1.0 - given > most:
                    pick, most = e, 1.0 - given
            if pick < 0:
                break
            step[pick] = entered + 1
            lacking -= a[pick]
            if most > best:
                best, steps[r] = most, entered + 1
