"""The inverse of a basis from scratch, as a short product of elementary matrices.

A simplex method that multiplies one elementary matrix to its inverse a step carries along what every step filled in.
Made anew, most columns of a table's basis need no arithmetic at all: they can be ordered so that each has zeros in all
rows that came before it, and then its elementary matrix is the column itself.

* A column with one entry among the rows that are left (a column singleton) comes last, in reverse order.
* A row with one column left (a row singleton) comes first.
* What remains (the bump) is eliminated, with the shortest row among sufficiently large pivots.

Rows whose slack is basic have no part in it.
"""

from __future__ import annotations

import numpy as np

from sdcdsl.numerics.compiled import kernel
from sdcdsl.numerics.simplex.tuning import DUAL

# For the compiled loops, which read names of their module.
LARGE_ENOUGH = DUAL.large_enough

SINGULAR = 1e-7
NEGLIGIBLE = 1e-12


def workspace(rows: int, most: int, entries: int) -> tuple[np.ndarray, ...]:
    """Arrays for bases with up to `most` columns and `entries` entries."""
    number = np.dtype(np.int64)
    return (
        np.full(rows, -1),  # local number of a row; left as it was found
        np.empty(most, dtype=number),  # columns
        np.empty(most),  # their values
        np.empty(most),  # and weights
        np.empty(most, dtype=number),  # rows
        np.empty(most, dtype=number),  # columns left in a row
        np.empty(most, dtype=number),  # rows left in a column
        np.empty(most + 1, dtype=number),  # where the columns of a row begin
        np.empty(entries, dtype=number),  # the columns, row by row
        np.empty(most, dtype=np.bool_),  # whether a column has its row
        np.empty(most, dtype=np.bool_),  # and a row its column
        np.empty(most, dtype=number),  # which one
        np.empty(entries + most, dtype=number),  # a stack
        np.empty(most, dtype=number),  # rows of column singletons, in the order of their discovery
        np.empty(most, dtype=number),  # and of row singletons
    )


@kernel
def _own(i, column, code, prow, matrix, product, steps, used):
    """The column itself as an elementary matrix with its pivot in the i-th row."""
    _, _, _, col_start, col_row, col_value = matrix
    pivot_row, pivot, start, index, value = product
    turn = 1.0 if code[column] % 2 == 0 else -1.0
    j = code[column] // 2
    for q in range(col_start[j], col_start[j + 1]):
        r = col_row[q]
        if r == prow[i]:
            pivot[steps] = turn * col_value[q]
        else:
            index[used] = r
            value[used] = turn * col_value[q]
            used += 1
    pivot_row[steps] = prow[i]
    start[steps + 1] = used
    return used


@kernel
def _eliminated(column, first, steps, used, matrix, product, col, space):
    """The elementary matrix of a column of the bump: how many entries there are now, or -1 if there is no pivot."""
    _, _, _, col_start, col_row, col_value = matrix
    pivot_row, pivot, start, index, value = product
    local, code, _, _, prow, left_in_row, _, _, _, _, row_done, of_row, stack, _, _ = space
    turn = 1.0 if code[column] % 2 == 0 else -1.0
    j = code[column] // 2
    n = 0
    for q in range(col_start[j], col_start[j + 1]):
        col[col_row[q]] = turn * col_value[q]
        stack[n] = col_row[q]
        n += 1
    fits = True
    for k in range(first, steps):
        at = pivot_row[k]
        if col[at] != 0.0:
            through = col[at] / pivot[k]
            col[at] = through
            for q in range(start[k], start[k + 1]):
                r = index[q]
                if col[r] == 0.0:
                    if n == len(stack):
                        fits = False
                        break
                    stack[n] = r
                    n += 1
                    col[r] = 1e-300
                col[r] -= value[q] * through
    most = 0.0
    for t in range(n):
        i = local[stack[t]]
        if i >= 0 and not row_done[i]:
            most = max(most, abs(col[stack[t]]))
    best = -1
    for t in range(n):
        i = local[stack[t]]
        if i < 0 or row_done[i] or abs(col[stack[t]]) < LARGE_ENOUGH * most:
            continue
        if best < 0 or left_in_row[i] < left_in_row[best]:
            best = i
    if not fits or best < 0 or most < SINGULAR or used + n > len(index):
        used = -1
    else:
        of_row[best] = column
        row_done[best] = True
        for t in range(n):  # a row that was 0 on the way stands on the list twice
            r = stack[t]
            if r != prow[best] and abs(col[r]) > NEGLIGIBLE:
                index[used] = r
                value[used] = col[r]
                used += 1
                col[r] = 0.0
        pivot_row[steps] = prow[best]
        pivot[steps] = col[prow[best]]
        start[steps + 1] = used
    for t in range(n):
        col[stack[t]] = 0.0
    return used


@kernel
def _column_singletons(m, matrix, space):
    """How many columns can come last."""
    _, _, _, col_start, col_row, _ = matrix
    local, code, _, _, _, _, left_in_col, row_start, row_col, col_done, row_done, of_row, stack, found, _ = space
    top, count = 0, 0
    for c in range(m):
        if left_in_col[c] == 1:
            stack[top] = c
            top += 1
    while top > 0:
        top -= 1
        c = stack[top]
        if col_done[c] or left_in_col[c] != 1:
            continue
        j, i = code[c] // 2, -1
        for q in range(col_start[j], col_start[j + 1]):
            k = local[col_row[q]]
            if k >= 0 and not row_done[k]:
                i = k
        col_done[c] = row_done[i] = True
        of_row[i] = c
        found[count] = i
        count += 1
        for q in range(row_start[i], row_start[i + 1]):
            other = row_col[q]
            if not col_done[other]:
                left_in_col[other] -= 1
                if left_in_col[other] == 1:
                    stack[top] = other
                    top += 1
    return count


@kernel
def _row_singletons(m, matrix, space):
    """How many columns can come first."""
    _, _, _, col_start, col_row, _ = matrix
    local, code, _, _, _, left_in_row, _, row_start, row_col, col_done, row_done, of_row, stack, _, found = space
    top, count = 0, 0
    for i in range(m):
        if row_done[i]:
            continue
        left_in_row[i] = 0
        for q in range(row_start[i], row_start[i + 1]):
            if not col_done[row_col[q]]:
                left_in_row[i] += 1
        if left_in_row[i] == 1:
            stack[top] = i
            top += 1
    while top > 0:
        top -= 1
        i = stack[top]
        if row_done[i] or left_in_row[i] != 1:
            continue
        c = -1
        for q in range(row_start[i], row_start[i + 1]):
            if not col_done[row_col[q]]:
                c = row_col[q]
        col_done[c] = row_done[i] = True
        of_row[i] = c
        found[count] = i
        count += 1
        j = code[c] // 2
        for q in range(col_start[j], col_start[j + 1]):
            k = local[col_row[q]]
            if k >= 0 and not row_done[k]:
                left_in_row[k] -= 1
                if left_in_row[k] == 1:
                    stack[top] = k
                    top += 1
    return count


@kernel
def _collected(rows, touched, state, matrix, space):
    """The basic columns and their entries, by column and by row; how many columns there are."""
    _, _, _, col_start, col_row, _ = matrix
    basic, x, weight = state
    local, code, xs, ws, prow, left_in_row, left_in_col, row_start, row_col, col_done, row_done, of_row = space[:12]
    stack = space[12]
    m = 0
    for t in range(rows):
        r = touched[t]
        if basic[r] >= 0:
            code[m], xs[m], ws[m], prow[m] = basic[r], x[r], weight[r], r
            local[r] = m
            left_in_row[m] = left_in_col[m] = 0
            col_done[m] = row_done[m] = False
            of_row[m] = -1
            m += 1
    for c in range(m):
        for q in range(col_start[code[c] // 2], col_start[code[c] // 2 + 1]):
            i = local[col_row[q]]
            if i >= 0:
                left_in_row[i] += 1
                left_in_col[c] += 1
    row_start[0] = 0
    for i in range(m):
        row_start[i + 1] = row_start[i] + left_in_row[i]
        stack[i] = row_start[i]
    if row_start[m] > len(row_col):
        return -1
    for c in range(m):
        for q in range(col_start[code[c] // 2], col_start[code[c] // 2 + 1]):
            i = local[col_row[q]]
            if i >= 0:
                row_col[stack[i]] = c
                stack[i] += 1
    return m


@kernel
def reinvert(rows, touched, state, col, matrix, product, space):
    """How many elementary matrices there are now, -1 if the basis is singular or does not fit. Basic columns may stand
    at other rows afterwards, with their values and weights."""
    local, code, xs, ws, prow, _, _, _, _, col_done, _, of_row, _, last, first = space
    basic, x, weight = state
    start = product[2]
    m = _collected(rows, touched, state, matrix, space)
    used, steps = -1, 0
    if m >= 0:
        late = _column_singletons(m, matrix, space)
        early = _row_singletons(m, matrix, space)
        used = start[0] = 0
        for t in range(early):
            used = _own(first[t], of_row[first[t]], code, prow, matrix, product, steps, used)
            steps += 1
        for c in range(m):
            if used >= 0 and not col_done[c]:
                used = _eliminated(c, early, steps, used, matrix, product, col, space)
                steps += 1
        for t in range(late - 1, -1, -1):
            if used >= 0:
                used = _own(last[t], of_row[last[t]], code, prow, matrix, product, steps, used)
                steps += 1
    for t in range(rows):
        local[touched[t]] = -1
    if used < 0 or steps != m:
        return -1
    for i in range(m):
        c = of_row[i]
        basic[prow[i]], x[prow[i]], weight[prow[i]] = code[c], xs[c], ws[c]
    return steps
