"""Which cells are parts and which are sums: a rounded table follows from its parts.

Where every relation says what one cell is the sum of, all cells are sums of those that are no sum themselves:

    k = T k_parts + shift       (k_i: multiples of the base above ⌊a_i⌋; T sparse, mostly of zeros and ones)

so that whole numbers of the parts are all there is to choose, and relations hold by themselves. What is left to look
at are the windows of the sums. Tables with several bases, with hidden cells, or whose sums can be taken apart in two
ways that have nothing in common, are left to the mixed-integer problem.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csc_array, csr_array, vstack

from sdcdsl.accelerate.rounding.tuning import PARTS
from sdcdsl.methods.forms.forms import FormColumns
from sdcdsl.methods.instance import Instance

WHOLE = 1e-6


@dataclass(frozen=True, eq=False)
class Parts:
    cells: np.ndarray  # int64 [part]
    T: csr_array  # [row, part]
    rows: np.ndarray  # int64 [row]: the cell each row is about
    least: np.ndarray  # [row]: least ≤ T k_parts ≤ most
    most: np.ndarray
    offset: np.ndarray  # [row]: how far a cell deviates where T k_parts is 0; base · T k_parts comes on top
    base: float
    shift: np.ndarray  # [row]: k of the cell less T k_parts

    @property
    def rounded(self) -> np.ndarray:
        """Rows of cells that have a k of their own."""
        return np.isfinite(self.shift)


def parts_of(instance: Instance, at: FormColumns, k_least: np.ndarray, k_most: np.ndarray) -> Parts | None:
    """`k_least`, `k_most` [cell]: what k may be where a cell is rounded."""
    bases = np.unique(at.base[at.base > 0])
    d = instance.problem.dataset
    if len(bases) != 1 or (d["status"].values == "m").any():
        return None
    T, parts = _expanded(instance)
    if T is None:
        return None
    r = float(bases[0])
    rounded = at.base > 0
    first = np.where(rounded, at.first - instance.a, 0.0)
    variable = rounded[parts]
    constant = T @ first[parts]  # deviations where every k of a part is 0
    free = csr_array(csc_array(T)[:, np.flatnonzero(variable)])
    rows = np.flatnonzero(d["published"].values & (rounded | (np.diff(free.indptr) > 0)))
    shift = np.where(rounded, (constant - first) / r, np.nan)[rows]
    fixed = np.where(rounded, np.nan, -constant / r)[rows]
    whole = np.where(np.isnan(shift), fixed, shift)
    if (np.abs(whole - np.round(whole)) > WHOLE).any():
        return None
    whole = np.round(whole)
    least = np.where(np.isnan(shift), whole, k_least[rows] - whole)
    most = np.where(np.isnan(shift), whole, k_most[rows] - whole)
    return Parts(
        parts[variable], free[rows], rows, least, most, constant[rows], r, np.where(np.isnan(shift), np.nan, whole)
    )


def sums_of(instance: Instance) -> tuple[csr_array, np.ndarray] | None:
    """The relations between published cells, and the cell that is the sum in each; None where they are none."""
    published = instance.problem.dataset["published"].values
    M = csr_array(instance.M)
    M.eliminate_zeros()
    stated = np.ones(instance.m, dtype=bool)
    stated[np.unique(csc_array(M)[:, np.flatnonzero(~published)].indices)] = False
    M = csr_array(M[np.flatnonzero(stated)])
    M = csr_array(M[np.flatnonzero(np.diff(M.indptr) > 1)])
    count = len(M.indptr) - 1
    row = np.repeat(np.arange(count), np.diff(M.indptr))
    if not np.array_equal(np.abs(M.data), np.ones(len(M.data))):
        return None
    # The sum of a relation is the one entry of its sign.
    balance = np.bincount(row, weights=M.data, minlength=count)
    alone = M.data * balance[row] < 0
    alone |= (balance[row] == 0) & (np.diff(M.indptr)[row] == 2) & (M.data < 0)
    if not np.array_equal(np.bincount(row[alone], minlength=count), np.ones(count)):
        return None
    total = np.zeros(count, dtype=np.int64)
    total[row[alone]] = M.indices[alone]
    return M, total


def _expanded(instance: Instance) -> tuple[csr_array | None, np.ndarray]:
    """T [cell, part] and the parts; None where sums do not go back to parts."""
    published = instance.problem.dataset["published"].values
    said = sums_of(instance)
    if said is None:
        return None, np.zeros(0, dtype=np.int64)
    M, total = said
    is_part = published.copy()
    is_part[total] = False
    parts = np.flatnonzero(is_part)
    number = np.full(instance.n, -1)
    number[parts] = np.arange(len(parts))
    entries = np.ones(len(parts)), (parts, number[parts])
    T = csr_array(entries, shape=(instance.n, len(parts)))
    known = is_part.copy()
    row = np.repeat(np.arange(len(total)), np.diff(M.indptr))
    below = csr_array((np.where(M.indices == total[row], 0.0, 1.0), M.indices.copy(), M.indptr.copy()), shape=M.shape)
    below.eliminate_zeros()
    for _ in range(PARTS.passes):
        left = np.flatnonzero(~known[total])
        if not len(left):
            break
        ready = left[(below[left] @ (~known).astype(float)) == 0]
        if not len(ready):
            return None, row
        _, once = np.unique(total[ready], return_index=True)
        ready = ready[once]
        made = csr_array(below[ready] @ T)
        place = csr_array((np.ones(len(ready)), (total[ready], np.arange(len(ready)))), shape=(instance.n, len(ready)))
        T = csr_array(T + place @ made)
        known[total[ready]] = True
        if T.nnz > PARTS.most_entries:
            return None, row
    if not known[published].all():
        return None, row
    unsaid: Any = csr_array(M @ T)
    unsaid.eliminate_zeros()
    unsaid = unsaid[np.flatnonzero(np.diff(unsaid.indptr))]
    if not unsaid.nnz:
        return T, parts
    solved = _solved(unsaid) if len(parts) <= PARTS.most_linked else None
    if solved is None:
        return None, row
    free, others = solved
    return csr_array(T @ others), parts[free]


def _solved(relations: csr_array) -> tuple[np.ndarray, csr_array] | None:
    """Relations between the parts themselves, solved for some of them by pivots of 1 or -1, so that whole numbers stay
    whole: the parts that are left to choose, and all [part, chosen] by them. None if there are no such pivots."""
    R = np.unique(relations.toarray(), axis=0)
    pivot: list[int] = []
    done = np.zeros(len(R), dtype=bool)
    while True:
        left = np.flatnonzero(~done & (R != 0).any(axis=1))
        if not len(left):
            break
        units = np.abs(R[left]) == 1
        if not units.any():
            return None
        # The shortest row, and in it the column that the fewest others have: little is filled in.
        short = left[np.argmin(np.where(units.any(axis=1), (R[left] != 0).sum(axis=1), np.inf))]
        ones = np.flatnonzero(np.abs(R[short]) == 1)
        column = int(ones[np.argmin((R[:, ones] != 0).sum(axis=0))])
        R[short] *= R[short, column]
        others = np.flatnonzero(R[:, column])
        others = others[others != short]
        R[others] -= np.outer(R[others, column], R[short])
        if np.abs(R).max() > PARTS.most_times:
            return None
        done[short] = True
        pivot.append(column)
    free = np.setdiff1d(np.arange(R.shape[1]), pivot)
    by = np.zeros((R.shape[1], len(free)))
    by[free, np.arange(len(free))] = 1
    for row in R[done]:
        column = next(
            c for c in np.flatnonzero(row) if c in set(pivot) and row[c] == 1 and (R[done][:, c] != 0).sum() == 1
        )
        by[column] = -row[free]
    return free, csr_array(by)


def stacked(parts: Parts, more: csr_array) -> csr_array:
    return csr_array(vstack([parts.T, more])) if more.nnz else parts.T
