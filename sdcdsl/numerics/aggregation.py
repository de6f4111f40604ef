"""Aggregation classes: columns that are proportional in every solution of M x = 0.

    x_i = factor_i · X_class(i)    for all x with M x = 0;  FIXED: columns that are 0 in all of them

Such columns move together, and one variable X stands for all of them. There are two ways to find them:

* `folded` reads them off the relations: a row with one column fixes it, a row with two ties them, and rows are
  rewritten in terms of classes until nothing more follows. It needs no factorisation and finds almost all.
* `of_basis` compares rows of a basis of the null space, where there is one. It finds all.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csr_array

FIXED = -1
ZERO = 1e-9  # coefficients of rewritten relations below this are rounding errors
CYCLE = 1e-9  # relative: factors that two chains of relations give a column, and that count as the same


@dataclass(frozen=True, eq=False)
class Aggregation:
    of: np.ndarray  # int64 [column]: the class, or FIXED
    factor: np.ndarray  # float64 [column]
    count: int  # of classes

    @cached_property
    def members(self) -> np.ndarray:
        """Columns that are not fixed."""
        return np.flatnonzero(self.of != FIXED)

    @cached_property
    def expansion(self) -> csr_array:
        """[column, class]: x = expansion X."""
        some = self.members
        return csr_array((self.factor[some], (some, self.of[some])), shape=(len(self.of), self.count))

    def scaled(self, l: np.ndarray, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The bounds of every member as bounds of its class."""
        f, low, high = self.factor[self.members], l[self.members], u[self.members]
        return np.where(f > 0, low, high) / f, np.where(f > 0, high, low) / f

    def bounds(self, l: np.ndarray, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The tightest bounds of each class."""
        low, high = self.scaled(l, u)
        lo, hi = np.full(self.count, -np.inf), np.full(self.count, np.inf)
        np.maximum.at(lo, self.of[self.members], low)
        np.minimum.at(hi, self.of[self.members], high)
        return lo, hi

    def tightest(self, l: np.ndarray, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Of each class the column that has the tightest bound below, and above."""
        low, high = self.scaled(l, u)
        up = np.full(self.count, -1)
        down = up.copy()
        # Sorted from loose to tight, the last one written is the tightest.
        order = np.argsort(-high, kind="stable")
        up[self.of[self.members[order]]] = self.members[order]
        order = np.argsort(low, kind="stable")
        down[self.of[self.members[order]]] = self.members[order]
        return down, up


def folded(M: csr_array, free: np.ndarray, *, pairs: bool = True, unit: bool = False) -> Aggregation:
    """Classes of the columns that are free. `pairs`: rows with two columns tie them, not only rows with one fix it;
    `unit`: only with a factor of 1 or -1. The first column of a class has the factor 1."""
    n = len(free)
    of, factor = np.where(free, np.arange(n), FIXED), np.ones(n)
    while True:
        some = np.flatnonzero(of != FIXED)
        rows: Any = cleaned(M @ csr_array((factor[some], (some, of[some])), shape=(n, n)))
        length = np.diff(rows.indptr)
        forest = _Forest()
        for e in rows.indptr[:-1][length == 2].tolist() if pairs else ():
            a, b = rows.data[e], rows.data[e + 1]
            if not unit or abs(a) == abs(b):
                forest.tie(int(rows.indices[e]), int(rows.indices[e + 1]), -float(a / b))
        for i in rows.indices[rows.indptr[:-1][length == 1]].tolist():
            forest.fix(i)
        if not forest.parent:
            break
        to, by = np.arange(n), np.ones(n)
        for i in list(forest.parent):
            root, ratio = forest.find(i)
            to[i], by[i] = (FIXED if root in forest.fixed else root), ratio
        factor[some] *= by[of[some]]
        of[some] = to[of[some]]
    some = np.flatnonzero(of != FIXED)
    names, of[some] = np.unique(of[some], return_inverse=True)
    return Aggregation(of, factor, len(names))


def of_basis(basis: np.ndarray) -> tuple[Aggregation, np.ndarray]:
    """Classes of the rows of a basis [column, direction], and one row for each class."""
    n, k = basis.shape
    nonzero = basis != 0
    rows = np.flatnonzero(nonzero.any(axis=1))
    first = nonzero.argmax(axis=1) if k else np.zeros(n, dtype=np.int64)
    factor = np.zeros(n)
    factor[rows] = basis[rows, first[rows]]
    unit = basis[rows] / factor[rows, None] + 0.0  # no negative zeros
    # Rows are compared exactly, but sorted by a random sum: a lexicographic sort of all columns is slow.
    key = unit @ np.random.default_rng(0).random(k)
    order = np.lexsort((rows, key))
    fresh = np.ones(len(rows), dtype=bool)
    fresh[1:] = (np.abs(unit[order[1:]] - unit[order[:-1]]) > 1e-12).any(axis=1)
    of = np.full(n, FIXED, dtype=np.int64)
    of[rows[order]] = np.cumsum(fresh) - 1
    representatives = unit[order[fresh]]
    return Aggregation(of, factor, len(representatives)), representatives


def distinct(matrix: csr_array) -> csr_array:
    """Rows that are not empty, each once, whatever they are multiplied by."""
    rows: Any = cleaned(matrix)
    seen: set[tuple[bytes, bytes]] = set()
    kept = []
    for r in range(len(rows.indptr) - 1):
        span = slice(rows.indptr[r], rows.indptr[r + 1])
        if span.start == span.stop:
            continue
        value = rows.data[span] / rows.data[span.start]
        key = rows.indices[span].tobytes(), value.tobytes()
        if key not in seen:
            seen.add(key)
            kept.append(r)
    return csr_array(rows[np.array(kept, dtype=np.int64)])


def cleaned(matrix: csr_array) -> csr_array:
    out = csr_array(matrix)
    out.sum_duplicates()
    out.data[np.abs(out.data) < ZERO] = 0.0
    out.eliminate_zeros()
    out.sort_indices()
    return out


class _Forest:
    """Which columns are tied to which, x_i = factor · x_root; a root is the first column of its tree."""

    def __init__(self):
        self.parent: dict[int, tuple[int, float]] = {}
        self.fixed: set[int] = set()  # roots

    def find(self, i: int) -> tuple[int, float]:
        chain, factor = [], 1.0
        while (up := self.parent.setdefault(i, (i, 1.0)))[0] != i:
            chain.append((i, factor))
            factor *= up[1]
            i = up[0]
        for j, before in chain:
            self.parent[j] = (i, factor / before)
        return i, factor

    def tie(self, i: int, j: int, factor: float) -> None:
        """x_j = factor · x_i."""
        (a, by_a), (b, by_b) = self.find(i), self.find(j)
        ratio = factor * by_a / by_b  # x_b = ratio · x_a
        if a == b:
            if abs(ratio - 1) > CYCLE:
                self.fixed.add(a)
            return
        if b < a:
            a, b, ratio = b, a, 1 / ratio
        self.parent[b] = (a, ratio)
        if b in self.fixed:
            self.fixed.add(a)

    def fix(self, i: int) -> None:
        self.fixed.add(self.find(i)[0])
