"""Some table that a reader cannot rule out, for formats which want a number in every cell.

It is worked out from what the release says and from nothing else, so it tells nobody anything: every reader could make
the same one. Its figures are no estimates of the true ones.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array
from scipy.sparse.linalg import lsqr

from sdcdsl.bind.relations import Relations

WITHIN = 1e-9


def possible_table(relations: Relations, printed: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """`printed` is nan where no figure is; there the table lies between `low` and `high`, as far as that can be."""
    n, m = len(printed), len(relations.rhs)
    hidden = np.flatnonzero(np.isnan(printed))
    out = np.where(np.isnan(printed), 0.0, printed)
    if not len(hidden):
        return out
    M = csr_array((relations.coefficient.astype(float), (relations.equation_of, relations.cell_of)), shape=(m, n))
    rest = relations.rhs - M @ out
    mine = M[:, hidden]
    least, most = low[hidden], high[hidden]
    shown = printed[~np.isnan(printed)]
    figures = None
    if (shown >= 0).all() and (least >= 0)[np.isfinite(least)].all():  # as readers of such a table will think
        figures = _between(mine, rest, np.maximum(least, 0.0), most)
    if figures is None:
        figures = _between(mine, rest, least, most)
    if figures is None:  # the release contradicts itself: whatever comes nearest
        figures = np.clip(lsqr(mine, rest, atol=1e-15, btol=1e-15)[0], least, most)
    out[hidden] = figures
    return out


def _between(mine: csr_array, rest: np.ndarray, least: np.ndarray, most: np.ndarray) -> np.ndarray | None:
    """Figures within these bounds that add up, if there are any: near zero where that will do, else of a least sum."""
    start = np.clip(0.0, least, most)
    figures = start + lsqr(mine, rest - mine @ start, atol=1e-15, btol=1e-15)[0]
    tolerance = WITHIN * (1 + np.abs(figures))
    off = np.abs(mine @ figures - rest)
    size = abs(mine) @ np.abs(figures) + np.abs(rest)
    if ((figures < least - tolerance) | (figures > most + tolerance)).any() or (off > WITHIN * (1 + size)).any():
        bounds = np.column_stack([least, most])
        for cost in (1.0, 0.0):  # where there is no least sum, any table will do
            found = linprog(np.full(len(least), cost), A_eq=mine, b_eq=rest, bounds=bounds, method="highs")
            if found.x is not None:
                return np.clip(found.x, least, most)
        return None
    return np.clip(figures, least, most)
