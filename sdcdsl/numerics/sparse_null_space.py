"""A sparse basis of the directions in which a table can move: d = N t.

Most cells are sums: a relation in which a cell is the only one of its sign says what it is. Starting from the cells
that are nobody's sum (the leaves), relation after relation determines one more cell, and what leaves do to all sums is
a matrix T with few entries: a column of it is a leaf and the sums above it. Relations that T does not keep by itself
(linked tables, hierarchies that cross) restrict the leaves further: T Z, with Z their null space. Elimination of the
whole system would give the same space, but a basis that is ten to thirty times as dense.

What it buys: on hier16 a basis 30 times as sparse, and a cheapest direction in 0.5 s that took 17 s by relations.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import coo_array, csc_array, csr_array, vstack

from sdcdsl.numerics.null_space import RelationMatrix, echelon, null_space
from sdcdsl.numerics.tuning import TUNING


def sparse_null_space(M: csr_array) -> csc_array | None:
    """N [cell, k]; None if it would be too large."""
    determined, T = _sums(M)
    rows = size(M)[0]
    rest = csr_array(M[np.setdiff1d(np.arange(rows), determined)] @ T)
    rest.data[np.abs(rest.data) < 1e-9] = 0.0
    rest.eliminate_zeros()
    rest = rest[np.flatnonzero(np.diff(rest.indptr))]
    rows, leaves = size(rest)
    if not rows:
        return csc_array(T)
    matrix = RelationMatrix.of(rest)
    made = echelon(matrix)
    if made is None or leaves * len(made.free) > TUNING.most_numbers:
        return None
    N = csc_array(T @ csc_array(null_space(matrix, made)))
    N.data[np.abs(N.data) < 1e-9] = 0.0
    N.eliminate_zeros()
    return N


def size(matrix: Any) -> tuple[int, int]:
    """Rows and columns. (scipy's own stubs leave open whether a matrix has them.)"""
    rows, columns = matrix.shape
    return int(rows), int(columns)


def _sums(M: csr_array) -> tuple[np.ndarray, csr_array]:
    """The relations that were used to determine cells, and T [cell, leaf]."""
    m, n = size(M)
    entries = coo_array(M)
    entries.eliminate_zeros()
    row, cell, value = entries.row, entries.col, entries.data
    length = np.bincount(row, minlength=m)
    known = ~_is_sum(row, cell, value, length, n)
    rounds: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []  # cells, relations, coefficients there
    while not known.all():
        unknown = np.flatnonzero(~known[cell])
        count = np.bincount(row[unknown], minlength=m)
        ready = unknown[count[row[unknown]] == 1]
        if not len(ready):  # sums that determine each other: let one of them be free
            known[cell[unknown[0]]] = True
            continue
        # Of several relations for a cell the shortest: it keeps T sparse.
        order = ready[np.lexsort((length[row[ready]], cell[ready]))]
        cells, first = np.unique(cell[order], return_index=True)
        at = order[first]
        rounds.append((cells, row[at], value[at]))
        known[cells] = True
    used = np.concatenate([r for _, r, _ in rounds]) if rounds else np.zeros(0, dtype=np.int64)
    made = np.concatenate([c for c, _, _ in rounds]) if rounds else np.zeros(0, dtype=np.int64)
    leaf = np.ones(n, dtype=bool)
    leaf[made] = False
    leaves = np.flatnonzero(leaf)
    diagonal = np.arange(len(leaves))
    T = csr_array((np.ones(len(leaves)), (diagonal, diagonal)), shape=(len(leaves), len(leaves)))
    order = leaves  # the cells of T's rows so far
    for cells, rows, own in rounds:
        said = csr_array(M[rows])
        T = csr_array(vstack([T, csr_array(said[:, order] @ T).multiply(-1.0 / own[:, None])]))
        order = np.concatenate([order, cells])
    back = np.empty(n, dtype=np.int64)
    back[order] = np.arange(n)
    return used, csr_array(T[back])


def _is_sum(row: np.ndarray, cell: np.ndarray, value: np.ndarray, length: np.ndarray, n: int) -> np.ndarray:
    """Cells that are the only one of their sign in some relation: the negative one, as relations are written, else the
    positive one."""
    m = len(length)
    negative = np.bincount(row[value < 0], minlength=m)
    alone = np.where(negative[row] == 1, value < 0, (length - negative)[row] == 1) & (
        (negative[row] == 1) | (value > 0)
    )
    out = np.zeros(n, dtype=bool)
    out[cell[alone]] = True
    return out
