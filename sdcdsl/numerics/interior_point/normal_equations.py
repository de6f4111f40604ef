"""Products with rows, and the normal equations H = Rᵀ D R with their factors: the loops that a path consists of.

Rows R are compressed (start, index, value), or `full` where most numbers are not zero.
"""

from __future__ import annotations

import numpy as np

from sdcdsl.numerics.compiled import kernel, reordering_kernel
from sdcdsl.numerics.interior_point.tuning import BOX

# For the compiled loops, which read names of their module.
LARGE = BOX.large
BLOCK = BOX.block

NOTHING = 1e-30


@kernel
def times(start, index, value, full, at, t, out):
    """R t in the rows `at`. `full`: these rows with their zeros, where they have few."""
    if len(full) > 0:
        product = np.dot(full, t)
        for a in range(len(at)):
            out[at[a]] = product[a]
        return
    for a in range(len(at)):
        i = at[a]
        total = 0.0
        for e in range(start[i], start[i + 1]):
            total += value[e] * t[index[e]]
        out[i] = total


@kernel
def transposed(start, index, value, full, at, z, out):
    if len(full) > 0:
        some = np.empty(len(at))
        for a in range(len(at)):
            some[a] = z[at[a]]
        out[:] = np.dot(some, full)
        return
    out[:] = 0.0
    for a in range(len(at)):
        i = at[a]
        for e in range(start[i], start[i + 1]):
            out[index[e]] += value[e] * z[i]


@kernel
def assemble(start, index, value, full, at, d, h):
    """The lower half of Rᵀ diag(d) R."""
    if len(full) > 0:
        k = full.shape[1]
        scaled = np.empty((k, len(at)))
        for a in range(len(at)):
            root = np.sqrt(d[at[a]])
            for j in range(k):
                scaled[j, a] = root * full[a, j]
        for first in range(0, k, BLOCK):  # products of whole blocks, but for those above the diagonal
            last = min(first + BLOCK, k)
            h[first:last, :last] = np.dot(scaled[first:last], scaled[:last].T)
        return
    h[:, :] = 0.0
    for a in range(len(at)):
        i = at[a]
        for e in range(start[i], start[i + 1]):
            f = d[i] * value[e]
            line = h[index[e]]
            for g in range(start[i], e + 1):
                line[index[g]] += f * value[g]


@kernel
def factor(h):
    """h = L Lᵀ in place, lower half. Dimensions that nothing holds are kept still."""
    if len(h) >= LARGE:
        try:
            h[:, :] = np.linalg.cholesky(h)
        except Exception:
            factor_simply(h, NOTHING)
    else:
        factor_simply(h, NOTHING)


@reordering_kernel
def forward(h, y, count):
    """L x = y in place, in the first `count` dimensions."""
    for i in range(count):
        row = h[i]
        total = y[i]
        for q in range(i):
            total -= row[q] * y[q]
        y[i] = total / row[i]


@reordering_kernel
def factor_simply(h, nothing):
    """`nothing`: share of the largest number on the diagonal below which nothing is left of one."""
    k = len(h)
    largest = 0.0
    for j in range(k):
        largest = max(largest, h[j, j])
    for j in range(k):
        row = h[j]
        forward(h, row, j)
        total = row[j]
        for q in range(j):
            total -= row[q] * row[q]
        row[j] = np.sqrt(total) if total > nothing * largest else 1e100


@kernel
def without(h, row, amount):
    """From the factor of H to that of H - amount · row rowᵀ, in place; False if that is not positive any more."""
    k = len(h)
    left = np.sqrt(amount) * row
    for j in range(k):
        less = h[j, j] * h[j, j] - left[j] * left[j]
        if not less > 0.0:
            return False
        cosine, sine = np.sqrt(less) / h[j, j], left[j] / h[j, j]
        h[j, j] = np.sqrt(less)
        for i in range(j + 1, k):
            h[i, j] = (h[i, j] - sine * left[i]) / cosine
            left[i] = cosine * left[i] - sine * h[i, j]
    return True


@reordering_kernel
def solve(h, y):
    """L Lᵀ x = y in place."""
    k = len(y)
    forward(h, y, k)
    for i in range(k - 1, -1, -1):
        row = h[i]
        y[i] /= row[i]
        f = y[i]
        for q in range(i):
            y[q] -= f * row[q]


@kernel
def dot(x, y):
    total = 0.0
    for i in range(len(x)):
        total += x[i] * y[i]
    return total
