"""When given senses leave no table: the least that the levels would have to give way, cell by cell.

    min Σ s_p / level_p    over M z = 0, low ≤ z ≤ high,  z_p + s_p ≥ upl_p (up)  or  z_p - s_p ≤ -lpl_p (down),  s ≥ 0

Never a release: what it finds misses protection by s, and says where the policy requires too much.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import block_array, csr_array, eye_array

from sdcdsl.deadline import Deadline
from sdcdsl.methods.cta.adjustment import Adjustment
from sdcdsl.numerics.nearest.l1 import L1
from sdcdsl.status import OPTIMAL

SLIGHT = 1e-7  # of a level: less is a solver's noise


def missing(of: Adjustment, sense: np.ndarray, deadline: Deadline) -> np.ndarray | None:
    """s [p]; None if no answer was found. Cells of sense 0 lack nothing."""
    p, n = of.p, of.n
    given = sense != 0
    level = np.where(sense > 0, of.upl, np.where(sense < 0, of.lpl, 0.0))
    own = csr_array((np.ones(p), (np.arange(p), of.cells)), shape=(p, n))
    signs = np.where(sense < 0, -1.0, 1.0)
    slack = csr_array(eye_array(p) * signs)
    # Columns: z, s, and t = z_p ± s_p, which keeps the level.
    M = csr_array(block_array([[of.M, None, None], [own, slack, -eye_array(p)]]))
    low, high = of.box(np.zeros_like(sense))
    t_low = np.where(given & (sense > 0), level, -np.inf)
    t_high = np.where(given & (sense < 0), -level, np.inf)
    nothing = np.zeros(n)
    with np.errstate(divide="ignore"):
        w = np.concatenate([nothing, np.where(level > 0, 1.0 / level, 0.0), np.zeros(p)])
    l = np.concatenate([low, np.zeros(p), t_low])
    u = np.concatenate([high, np.where(given, np.inf, 0.0), t_high])
    solved = L1(M).solve(w, w, l, u, deadline)
    if solved.status != OPTIMAL or solved.z is None:
        return None
    s = solved.z[n : n + p]
    return np.where(s > SLIGHT * level, s, 0.0)
