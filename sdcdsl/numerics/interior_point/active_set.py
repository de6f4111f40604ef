"""Few rows that hold a move by themselves.

Often the way of a cell ends at a handful of rows, whatever the many other dimensions do: the goal is a combination of
those rows alone, R_Tᵀ c = goal. Then Σ c · end is as far as it goes, and any point inside with these rows at their ends
is a furthest one. A path shows which rows they are long before it gets near them, so it is worth asking on the way.
"""

from __future__ import annotations

import numpy as np

from sdcdsl.numerics.compiled import kernel
from sdcdsl.numerics.interior_point.normal_equations import factor_simply, solve
from sdcdsl.numerics.interior_point.tuning import BOX
from sdcdsl.numerics.simplex.tableau import OUTSIDE, SMALL

AT_ITS_END = BOX.at_its_end
EXPLAINED = 1e-11  # share of the goal that the rows may leave
DEPENDENT = 1e-12  # share of a row's square that is left of it beside the others, below which it is one of them


@kernel
def active_set_test(full, at, weight, way, lo, hi, goal, t, most, chosen, coefficient, point):
    """How many of the rows `at`, up to `most`, hold the goal, with their coefficients and a point where they meet; 0 if
    none do. `way`: the sign says which of its ends a row goes to."""
    few = 0
    for a in range(len(at)):
        i = at[a]
        if weight[i] > AT_ITS_END:
            end = hi[i] if way[i] > 0.0 else lo[i]
            if few == most or not np.isfinite(end):
                return 0
            chosen[few] = i
            few += 1
    if few == 0:
        return 0
    rows, end = np.empty((few, full.shape[1])), np.empty(few)
    for r in range(few):
        i = chosen[r]
        rows[r] = full[i]
        end[r] = hi[i] if way[i] > 0.0 else lo[i]
    h = np.dot(rows, rows.T)
    factor_simply(h, DEPENDENT)
    c, p = np.zeros(few), t.copy()
    for _ in range(3):  # squares of rows cost half the digits: the second and third time bring them back
        more = np.dot(rows, goal - np.dot(c, rows))
        solve(h, more)
        c += more
        lacking = end - np.dot(rows, p)
        solve(h, lacking)
        p += np.dot(lacking, rows)
    left = goal - np.dot(c, rows)
    if not np.abs(left).max() <= EXPLAINED * np.abs(goal).max():
        return 0
    for r in range(few):
        if np.abs(c[r]) > SMALL and (c[r] > 0.0) != (way[chosen[r]] > 0.0):
            return 0
    x = np.dot(full, p)
    for i in range(len(x)):
        if not (x[i] <= hi[i] + 0.5 * OUTSIDE and x[i] >= lo[i] - 0.5 * OUTSIDE):
            return 0
    coefficient[:few] = c
    point[:] = p
    return few
