"""From the relaxation to a table of multiples: sums may leave their windows at a price, a little less at every step.

The parts are rounded as the relaxation has them; most sums come out right, some do not. A step frees the parts of some
sums that are outside, and of others around them, keeps all other parts, and solves the mixed-integer problem in which
every multiple beyond a window costs `PRICE` bases. What it finds is no worse, and near the relaxation all the while, so
that a table within all windows, once there is one, is a good one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from sdcdsl.methods.mixed.forms import Forms
from sdcdsl.methods.mixed.search import Search
from sdcdsl.methods.result import Clock
from sdcdsl.methods.rounding.parts import Parts
from sdcdsl.solve.master import OPTIMAL, Master

PRICE = 4.0  # of a base, for every multiple that a sum is outside its window
MOMENT = 4.0  # seconds for a step
QUICK = 0.25  # of it: a step that takes less may free more parts
SMALL = 600  # parts of the first steps
IDLE = 80  # steps in a row that bring nothing


def elastic(
    search: Search, forms: Forms, wider: Forms, parts: Parts, clock: Clock, seed: int, over: Callable[[], bool]
) -> np.ndarray | None:
    """k of every cell, within all windows; None if it does not come to that. `wider`: the table with one more step."""
    at, problem = forms.at, search.problem
    relaxed = search.relaxed_at
    if relaxed is None:
        return None
    rounded = at.multiple >= 0
    columns = at.multiple[rounded]
    least, most = np.zeros(len(rounded)), np.zeros(len(rounded))
    least[rounded], most[rounded] = problem.lower[columns], problem.upper[columns]
    own = at.multiple[parts.cells]
    master, unit = _priced(search, wider, int(columns.max(initial=-1)) + 1)
    x = _columns(wider, parts, np.clip(np.round(relaxed[own]), least[parts.cells], most[parts.cells])) / unit
    # However far sums are outside at the start, so far they may be.
    far = max(float(_outside(x[columns], least[rounded], most[rounded]).max(initial=0.0)), 1.0)
    lower, upper = master.lower.copy(), master.upper.copy()
    lower[columns], upper[columns] = least[rounded] - far, most[rounded] + far
    lower[own], upper[own] = least[parts.cells], most[parts.cells]
    draw = np.random.default_rng(seed)
    row_of = np.full(len(rounded), -1)
    row_of[parts.rows] = np.arange(len(parts.rows))
    cost, idle, size = float(master.cost @ x), 0, float(min(SMALL, len(own)))
    first = np.abs(relaxed[own] - np.round(relaxed[own])) > 1e-6
    while idle < IDLE and not clock.over and not over():
        outside = np.flatnonzero(rounded)[_outside(x[columns], least[rounded], most[rounded]) > 0]
        if not len(outside):
            k = np.zeros(len(rounded))
            k[rounded] = np.round(x[columns])
            return k
        free = first if first is not None and first.any() else _around(draw, parts, row_of[outside], int(size))
        first = None
        master.lower, master.upper = lower.copy(), upper.copy()
        still = own[~free]
        master.lower[still] = master.upper[still] = np.round(x[still])
        before = clock.left
        solved = master.solve(start=x, gap=1e-4, seconds=min(MOMENT, clock.left), seed=seed)
        quick = solved.status == OPTIMAL and before - clock.left < QUICK * MOMENT
        size = min(size * (1.05 if quick else 0.85), float(len(own)))
        better = solved.x is not None and solved.objective < cost - 1e-9 * abs(cost)
        idle = 0 if better else idle + 1
        if better:
            assert solved.x is not None
            x, cost = solved.x, solved.objective
    return None


def _priced(search: Search, wider: Forms, multiples: int) -> tuple[Master, np.ndarray]:
    """The master of the wider table, with the cuts there are, and a price on what is beyond the windows."""
    other = Search(wider.instance, wider.into.problem(), wider.open & wider.instance.may_open, search.published)
    master, problem = other.master, other.problem
    typical = np.abs(problem.cost[multiples:] * problem.unit[multiples:])
    master.cost = master.cost.copy()
    master.cost[multiples:] += PRICE * (float(np.median(typical)) if len(typical) else 1.0) / other._scale
    matrix: Any = search.master.matrix
    rows: Any = csr_array(matrix[search.stated :])
    right = search.master.rhs[search.stated :]
    master.add(
        (rows.indices[rows.indptr[r] : rows.indptr[r + 1]], rows.data[rows.indptr[r] : rows.indptr[r + 1]], right[r])
        for r in range(len(right))
    )
    return master, problem.unit


def _columns(forms: Forms, parts: Parts, k_parts: np.ndarray) -> np.ndarray:
    at, own = forms.at, parts.rounded
    u = np.zeros(len(forms.into.problem().cost))
    u[at.multiple[parts.rows[own]]] = np.round(np.asarray(parts.T @ k_parts))[own] + parts.shift[own]
    return at.completed(u)


def _outside(k: np.ndarray, least: np.ndarray, most: np.ndarray) -> np.ndarray:
    k = np.round(k)
    return np.maximum(least - k, 0.0) + np.maximum(k - most, 0.0)


def _around(draw: np.random.Generator, parts: Parts, outside: np.ndarray, size: int) -> np.ndarray:
    """The parts of some sums that are outside, up to half of what may be free, and of some others."""
    T = parts.T
    free = np.zeros(len(parts.cells), dtype=bool)
    for row in draw.permutation(outside):
        mine = T.indices[T.indptr[row] : T.indptr[row + 1]]
        free[mine if len(mine) <= size else draw.choice(mine, max(size // 2, 1), replace=False)] = True
        if free.sum() >= 0.5 * size:
            break
    counts = np.diff(T.indptr)
    for row in draw.permutation(np.flatnonzero((counts > 1) & (counts <= max(size, 2)))):
        if free.sum() >= size:
            break
        free[T.indices[T.indptr[row] : T.indptr[row + 1]]] = True
    return free
