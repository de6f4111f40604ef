"""The tables that a reader of a release cannot rule out: M y = b, and every cell within its box.

Where cells are whole numbers and the tables are few, all of them, by depth-first search with bounds carried through the
relations. Elsewhere a sample by hit-and-run: from a table that fits, along a random direction of the null space of M,
to a random place of the segment inside the box. Of whole numbers the directions are single columns of a basis of whole
numbers; tables that such steps do not reach are not in the sample.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from sdcdsl.numerics.sparse_null_space import sparse_null_space

NODES = 200_000  # of the search for all tables
FAR = 10.0  # times the largest value: where a box has no end, a sample needs one
BURN_IN, THINNING = 50, 10  # steps per direction of the null space, before the first table and between two


@dataclass(frozen=True, eq=False)
class Candidates:
    tables: np.ndarray  # [table, cell]; the first one is the true one
    every: bool  # there is no other
    reach: np.ndarray  # bool [cell]: what steps can change, where it is a sample


def candidates(
    M: csr_array, a: np.ndarray, low: np.ndarray, high: np.ndarray, whole: bool, most: int, rng: np.random.Generator
) -> Candidates:
    """`a` fits; `most` tables at the most, of which it is one. `whole`: cells are whole numbers."""
    if whole:
        low, high = np.ceil(low - 1e-9), np.floor(high + 1e-9)
        found: list[np.ndarray] = []
        for table in _all(M, a, low, high):
            if table is None or len(found) > most:
                break
            found.append(table)
        else:
            others = [table for table in found if not np.array_equal(table, a)]
            return Candidates(np.array([a, *others]), True, np.ptp(np.array([a, *others]), axis=0) > 0)
    return _sampled(M, a, low, high, whole, most, rng)


# ---- all of them ---------------------------------------------------------------------------------------------------


def _all(M: csr_array, a: np.ndarray, low: np.ndarray, high: np.ndarray) -> Iterator[np.ndarray | None]:
    """Every table of whole numbers; None if there are too many nodes to look at."""
    right = M @ a
    stack, nodes = [(low.copy(), high.copy())], 0
    while stack:
        nodes += 1
        if nodes > NODES:
            yield None
            return
        l, u = stack.pop()
        if not _propagated(M, right, l, u):
            continue
        width = u - l
        open_ = np.flatnonzero(width > 0)
        if not len(open_):
            yield l
            continue
        if not np.isfinite(width).all():
            yield None
            return
        cell = int(open_[np.argmin(width[open_])])
        middle = np.floor((l[cell] + u[cell]) / 2)
        upper = l.copy()
        upper[cell] = middle + 1
        stack.append((upper, u.copy()))
        lower = u.copy()
        lower[cell] = middle
        stack.append((l, lower))


def _propagated(M: csr_array, right: np.ndarray, l: np.ndarray, u: np.ndarray) -> bool:
    """Bounds of whole numbers carried through the relations, in place; False if nothing is left."""
    cell, value = M.indices, M.data
    m = len(right)
    row = np.repeat(np.arange(m), np.diff(M.indptr))
    up = value > 0
    while True:
        least = np.where(up, value * l[cell], value * u[cell])  # of each entry
        most = np.where(up, value * u[cell], value * l[cell])
        # What is left for an entry: the right side without the others.
        with np.errstate(invalid="ignore"):
            ends = np.stack([right[row] - _others(row, most, m), right[row] - _others(row, least, m)]) / value
        ends = np.sort(ends, axis=0)
        tighter_l, tighter_u = l.copy(), u.copy()
        np.maximum.at(tighter_l, cell, np.ceil(ends[0] - 1e-7))
        np.minimum.at(tighter_u, cell, np.floor(ends[1] + 1e-7))
        if (tighter_l > tighter_u).any():
            return False
        if np.array_equal(tighter_l, l) and np.array_equal(tighter_u, u):
            return True
        l[:], u[:] = tighter_l, tighter_u


def _others(row: np.ndarray, entries: np.ndarray, rows: int) -> np.ndarray:
    """Of every entry the sum of the others of its relation; infinite if one of them is."""
    endless = np.isinf(entries)
    finite = np.where(endless, 0.0, entries)
    total = np.bincount(row, finite, minlength=rows)[row] - finite
    without_end = np.bincount(row, endless, minlength=rows)[row] - endless > 0
    return np.where(without_end, np.inf if (entries[endless] > 0).any() else -np.inf, total)


# ---- a sample ------------------------------------------------------------------------------------------------------


def _sampled(
    M: csr_array, a: np.ndarray, low: np.ndarray, high: np.ndarray, whole: bool, most: int, rng: np.random.Generator
) -> Candidates:
    free = np.flatnonzero(high > low)
    N = sparse_null_space(csr_array(M[:, free])) if len(free) else None
    if N is None or not N.shape[1]:
        return Candidates(a[None, :], not len(free), np.zeros(len(a), dtype=bool))
    if whole:
        kept = np.array([bool((N[:, [j]].data == np.rint(N[:, [j]].data)).all()) for j in range(N.shape[1])])
        N = N[:, np.flatnonzero(kept)]
    reach = np.zeros(len(a), dtype=bool)
    reach[free[np.unique(N.indices)]] = True
    far = FAR * np.abs(a).max(initial=1.0)
    l, u = np.maximum(low[free], a[free] - far), np.minimum(high[free], a[free] + far)
    at, out = a[free].copy(), [a]
    directions = N.shape[1]
    steps = 0
    while len(out) < most and directions:
        if whole:
            j = int(rng.integers(directions))
            d = np.zeros(len(free))
            part = slice(int(N.indptr[j]), int(N.indptr[j + 1]))
            d[N.indices[part]] = N.data[part]
        else:
            d = N @ rng.normal(size=directions)
        at += _step(at, d, l, u, whole, rng) * d
        np.clip(at, l, u, out=at)
        steps += 1
        if steps >= BURN_IN * directions and steps % (THINNING * directions) == 0:
            table = a.copy()
            table[free] = at
            out.append(table)
    return Candidates(np.array(out), False, reach)


def _step(at: np.ndarray, d: np.ndarray, l: np.ndarray, u: np.ndarray, whole: bool, rng: np.random.Generator) -> float:
    """How far along d, uniformly between the ends of the box."""
    moved = np.flatnonzero(np.abs(d) > 1e-12)
    to_low, to_high = (l[moved] - at[moved]) / d[moved], (u[moved] - at[moved]) / d[moved]
    least = float(np.minimum(to_low, to_high).max(initial=-np.inf))
    most = float(np.maximum(to_low, to_high).min(initial=np.inf))
    if whole:
        least, most = float(np.ceil(least - 1e-9)), float(np.floor(most + 1e-9))
        return float(rng.integers(int(least), int(most) + 1)) if most > least else 0.0
    return float(rng.uniform(least, most)) if most > least else 0.0
