"""Small pieces of a table with many sums of their own: a region with all that is said about it, say.

Sums within a piece can be held from the start, whatever its neighbours do; what is left to search for are the sums
across pieces. A piece is all that one sum is made of, the better the more sums are made of nothing else.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from sdcdsl.accelerate.rounding.tuning import PARTS


def within_blocks(A: Any) -> np.ndarray:
    """bool [row]: rows whose parts are all in one piece. Pieces have no part in common."""
    count = np.diff(A.indptr)
    small = np.flatnonzero((count > 0) & (count <= PARTS.most_parts))
    chosen: Any = A[small]
    one = csr_array((np.ones(chosen.nnz), chosen.indices, chosen.indptr), shape=chosen.shape)
    common = csr_array(one @ one.T)  # parts that two rows have in common
    row = np.repeat(np.arange(len(small)), np.diff(common.indptr))
    inside = common.data == count[small][common.indices]  # [entry]: all parts of the other are among those of the row
    worth = np.bincount(row[inside], minlength=len(small)) / count[small]
    taken = np.zeros(A.shape[1], dtype=bool)
    held = np.zeros(A.shape[0], dtype=bool)
    for at in np.argsort(-worth, kind="stable").tolist():
        parts = one.indices[one.indptr[at] : one.indptr[at + 1]]
        if len(parts) < 2 or taken[parts].any():
            continue
        taken[parts] = True
        entries = slice(common.indptr[at], common.indptr[at + 1])
        held[small[common.indices[entries][inside[entries]]]] = True
    return held
