"""All directions in which a table can move: the null space of its relations, by sparse elimination.

The relations among cells that are not known exactly leave surprisingly little freedom: a suppression pattern of
thousands of cells often moves in a few dozen dimensions only, because the same sums are said over and over. Eliminating
once gives

* the rank, and a set of equations that imply all others (the rest is redundant, whatever the values are),
* for each cell the row N_i of a basis of the null space: d = N t for some t, whatever the attacker does,
* the cells with N_i = 0: linear algebra alone reveals them.

Whether a coefficient is zero is decided exactly, by carrying every number along modulo a prime: a rank that rounding
errors contributed to would invent relations. (A number that is a multiple of the prime by chance would pass for zero:
one in two thousand million. Nothing relies on it: directions are checked against all relations when they serve as
witnesses, and a bound is valid for whatever multipliers it comes with.)
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from sdcdsl.numerics.compiled import kernel
from sdcdsl.numerics.tuning import TUNING

# For the compiled loops, which read names of their module.
STABLE = TUNING.stable

PRIME = 2_147_483_647
# Elimination may grow to so many times the numbers of the relations. On the tables of CSPLIB it takes at most 2.4
# times, on cubes far more.
ACCURATE = 1e-13  # residual of the null space, relative to its entries, that is not worth another step


@dataclass(frozen=True, eq=False)
class RelationMatrix:
    """A few relations among a few cells, row by row."""

    start: np.ndarray
    index: np.ndarray
    value: np.ndarray
    columns: int

    @classmethod
    def of(cls, rows: csr_array) -> RelationMatrix:
        return cls(rows.indptr.astype(np.int64), rows.indices.astype(np.int64), rows.data.astype(float), _width(rows))

    @property
    def rows(self) -> int:
        return len(self.start) - 1

    @cached_property
    def sparse(self) -> csr_array:
        return csr_array((self.value, self.index, self.start), shape=(self.rows, self.columns))


@dataclass(frozen=True, eq=False)
class Echelon:
    """The relations as L E.

    Row t of E says: cell `column[t]` + Σ value · cell `index` = 0, over `start[t]:start[t + 1]`; never an earlier
    pivot. Equation `row[t]` is `pivot[t]` times row t plus Σ `below_value` times the earlier rows `below_row`.
    """

    row: np.ndarray  # int64 [rank]: the equation that gave the row; the others are implied
    column: np.ndarray  # int64 [rank]: its pivot
    pivot: np.ndarray
    start: np.ndarray
    index: np.ndarray
    value: np.ndarray
    below_start: np.ndarray
    below_row: np.ndarray
    below_value: np.ndarray
    free: np.ndarray  # int64 [k]: cells that are no pivot; they span the null space
    scale: np.ndarray  # of each row: the equation was taken so many times, to make its coefficients whole

    def multipliers(self, g: np.ndarray) -> np.ndarray:
        """γ [rank] over the equations `row` with Mᵀγ = g, for g in the row space."""
        rows = np.zeros(len(self.row))
        _transposed.at(len(self.index))(
            self.column,
            self.pivot,
            self.start,
            self.index,
            self.value,
            self.below_start,
            self.below_row,
            self.below_value,
            g.copy(),
            rows,
        )
        return rows * self.scale


def echelon(m: RelationMatrix, weight: np.ndarray | None = None) -> Echelon | None:
    """None if that needs many times the numbers of the relations (`FILL`), or if coefficients are not whole numbers
    even a few times over. Cells of the least `weight` become pivots; without one, those in the fewest equations."""
    scale = _whole_rows(m)
    value = m.value * np.repeat(scale, np.diff(m.start))
    if (np.abs(value) > 1e6).any() or (value != np.rint(value)).any():
        return None
    if weight is None:
        weight = np.bincount(m.index, minlength=m.columns)
    eliminate = _eliminate.at(len(m.index))
    rank, row, column, pivot, upper, lower = eliminate(
        m.start, m.index, value, m.columns, weight, TUNING.fill * len(m.index) + 1000
    )
    if rank < 0:
        return None
    free = np.ones(m.columns, dtype=np.bool_)
    free[column[:rank]] = False
    upper, lower = _cut(upper, rank), _cut(lower, rank)
    return Echelon(row[:rank], column[:rank], pivot[:rank], *upper, *lower, np.flatnonzero(free), scale[row[:rank]])


def independent_rows(m: RelationMatrix) -> np.ndarray:
    """Relations that imply all others; all of them where that would take too long to find."""
    made = echelon(m) if len(m.index) else None
    return np.arange(m.rows) if made is None else np.sort(made.row)


def _width(rows: csr_array) -> int:
    return int(rows.shape[1])  # pyright: ignore[reportOptionalSubscript]


def _whole_rows(m: RelationMatrix) -> np.ndarray:
    """What makes the coefficients of each row whole, if a small number does."""
    scale = np.ones(m.rows)
    row = np.repeat(np.arange(m.rows), np.diff(m.start))
    for times in (2.0, 5.0, 2.0, 5.0, 2.0, 3.0):
        value = m.value * scale[row]
        broken = np.unique(row[value != np.rint(value)])
        if not len(broken):
            break
        scale[broken] *= times
    return scale


Rows = tuple[np.ndarray, np.ndarray, np.ndarray]  # start, index, value


def _cut(rows: Rows, rank: int) -> Rows:
    start, index, value = rows
    return start[: rank + 1], index[: start[rank]], value[: start[rank]]


def null_space(m: RelationMatrix, made: Echelon) -> np.ndarray:
    """A basis [cell, k] with the unit vectors at the free cells, as accurate as its numbers can be."""
    basis = np.zeros((m.columns, len(made.free)))
    basis[made.free, np.arange(len(made.free))] = 1.0
    upper = made.column, made.start, made.index, made.value
    zero = np.zeros((len(made.row), len(made.free)))
    _substitute.at(basis.size)(*upper, zero, basis)
    for _ in range(2):
        off = (m.sparse @ basis)[made.row] * made.scale[:, None]
        if np.abs(off).max(initial=0.0) <= ACCURATE:
            break
        _reduce.at(basis.size)(made.pivot, made.below_start, made.below_row, made.below_value, off)
        correction = np.zeros_like(basis)
        _substitute.at(basis.size)(*upper, off, correction)
        basis -= correction
    near = np.rint(basis)
    return np.where(np.abs(basis - near) < 10 * ACCURATE, near, basis)


def random_direction(made: Echelon, cells: int) -> np.ndarray:
    """One direction of the null space, with the free cells drawn at random."""
    out = np.zeros((cells, 1))
    out[made.free, 0] = np.random.default_rng(0).uniform(1.0, 2.0, len(made.free))
    upper = made.column, made.start, made.index, made.value
    _substitute.at(len(made.index))(*upper, np.zeros((len(made.row), 1)), out)
    return out[:, 0]


@kernel
def _substitute(column, start, index, value, right, out):
    """E x = right for the pivots, given x at the free cells."""
    k = out.shape[1]
    for t in range(len(column) - 1, -1, -1):
        c = column[t]
        for q in range(k):
            out[c, q] = right[t, q]
        for e in range(start[t], start[t + 1]):
            f = value[e]
            j = index[e]
            for q in range(k):
                out[c, q] -= f * out[j, q]


@kernel
def _reduce(pivot, start, index, value, right):
    """From right-hand sides of the equations to those of the rows of E, in place."""
    k = right.shape[1]
    for t in range(len(pivot)):
        for e in range(start[t], start[t + 1]):
            f = value[e]
            s = index[e]
            for q in range(k):
                right[t, q] -= f * right[s, q]
        for q in range(k):
            right[t, q] /= pivot[t]


@kernel
def _transposed(column, pivot, start, index, value, below_start, below_row, below_value, g, out):
    """Eᵀy = g, then Lᵀγ = y."""
    for t in range(len(column)):
        y = g[column[t]]
        out[t] = y
        if y != 0.0:
            for e in range(start[t], start[t + 1]):
                g[index[e]] -= y * value[e]
    for t in range(len(column) - 1, -1, -1):
        out[t] /= pivot[t]
        for e in range(below_start[t], below_start[t + 1]):
            out[below_row[e]] -= out[t] * below_value[e]


@kernel
def _eliminate(start, index, value, columns, weight, fill):
    """Each row is reduced by all rows before it, so it holds none of their pivots; a heap of pivots in the order they
    were made sees to it that what a reduction brings in is reduced too.

    Short rows come first, since they say most; a row that turns out longer than the next one waits once more.
    """
    rows = len(start) - 1
    time_of = np.full(columns, -1, np.int64)
    row = np.zeros(rows, np.int64)
    column = np.zeros(rows, np.int64)
    at = np.zeros(rows + 1, np.int64)
    # Most of these is never touched: memory that is not written costs nothing.
    out_index = np.empty(fill, np.int64)
    out_value = np.empty(fill)
    out_residue = np.empty(fill, np.int64)
    pivots = np.zeros(rows)
    below_at = np.zeros(rows + 1, np.int64)
    below_row = np.empty(fill, np.int64)
    below_value = np.empty(fill)
    work = np.zeros(columns)
    residue = np.zeros(columns, np.int64)  # the same numbers modulo PRIME: they know what is zero
    touched = np.zeros(columns, np.int64)
    is_touched = np.zeros(columns, np.bool_)
    heap = np.zeros(columns, np.int64)
    pending = np.zeros(rows + 1, np.bool_)
    # Rows wait as length · rows + row, so that one heap of whole numbers orders them.
    queue = np.zeros(rows, np.int64)
    queued = 0
    for r in range(rows):
        queued = _add(queue, queued, (start[r + 1] - start[r]) * rows + r)
    rank = 0
    used = 0
    failed = -1, row, column, pivots, (at, out_index, out_value), (below_at, below_row, below_value)
    while queued > 0:
        r = queue[0] % rows
        expected = queue[0] // rows
        queued = _remove(queue, queued)
        count = 0
        size = 0
        below = below_at[rank]
        for e in range(start[r], start[r + 1]):
            j = index[e]
            if not is_touched[j]:
                is_touched[j] = True
                touched[count] = j
                count += 1
                t = time_of[j]
                if t >= 0:
                    size = _add(heap, size, t)
                    pending[t] = True
            work[j] += value[e]
            residue[j] = (residue[j] + np.int64(value[e])) % PRIME
        while size > 0:
            t = heap[0]
            size = _remove(heap, size)
            pending[t] = False
            f = work[column[t]]
            g = residue[column[t]]
            work[column[t]] = 0.0
            residue[column[t]] = 0
            if g == 0:
                continue
            if below >= fill:
                return failed
            below_row[below] = t
            below_value[below] = f
            below += 1
            for e in range(at[t], at[t + 1]):
                j = out_index[e]
                if not is_touched[j]:
                    is_touched[j] = True
                    touched[count] = j
                    count += 1
                work[j] -= f * out_value[e]
                residue[j] = (residue[j] - g * out_residue[e]) % PRIME
                s = time_of[j]
                if s >= 0 and not pending[s]:
                    size = _add(heap, size, s)
                    pending[s] = True
        # The pivot: a coefficient of ±1 if there is one, then the cell that stands in fewest equations; never a number
        # that is small beside the others.
        largest = 0.0
        length = 0
        for q in range(count):
            j = touched[q]
            if residue[j] == 0:
                work[j] = 0.0
            else:
                length += 1
                largest = max(largest, abs(work[j]))
        best = -1
        for q in range(count):
            j = touched[q]
            if residue[j] == 0 or abs(work[j]) < STABLE * largest:
                continue
            if best < 0:
                best = j
                continue
            unit = residue[j] == 1 or residue[j] == PRIME - 1
            best_unit = residue[best] == 1 or residue[best] == PRIME - 1
            if (unit and not best_unit) or (unit == best_unit and weight[j] < weight[best]):
                best = j
        if best >= 0 and queued > 0 and length > expected and length > queue[0] // rows:
            queued = _add(queue, queued, length * rows + r)
        elif best >= 0:
            if used + length - 1 > fill:
                return failed
            pivot = work[best]
            pivots[rank] = pivot
            inverse = _inverse(residue[best])
            for q in range(count):
                j = touched[q]
                if j != best and residue[j] != 0:
                    out_index[used] = j
                    out_value[used] = work[j] / pivot
                    out_residue[used] = residue[j] * inverse % PRIME
                    used += 1
            time_of[best] = rank
            row[rank] = r
            column[rank] = best
            rank += 1
            at[rank] = used
            below_at[rank] = below
        for q in range(count):
            work[touched[q]] = 0.0
            residue[touched[q]] = 0
            is_touched[touched[q]] = False
    return rank, row, column, pivots, (at, out_index, out_value), (below_at, below_row, below_value)


@kernel
def _inverse(x):
    """x to the power PRIME - 2, modulo PRIME: the number that times x is 1."""
    out = 1
    power = PRIME - 2
    while power > 0:
        if power & 1:
            out = out * x % PRIME
        x = x * x % PRIME
        power >>= 1
    return out


@kernel
def _add(heap, size, item):
    """Put an item into a heap of `size` items; the new size."""
    i = size
    while i > 0:
        above = (i - 1) // 2
        if heap[above] <= item:
            break
        heap[i] = heap[above]
        i = above
    heap[i] = item
    return size + 1


@kernel
def _remove(heap, size):
    """Take the least item, which is `heap[0]`, out of a heap of `size` items; the new size."""
    size -= 1
    item = heap[size]
    i = 0
    while 2 * i + 1 < size:
        child = 2 * i + 1
        if child + 1 < size and heap[child + 1] < heap[child]:
            child += 1
        if heap[child] >= item:
            break
        heap[i] = heap[child]
        i = child
    heap[i] = item
    return size
