"""Directions improved by flipping groups, most promising first.

A flip whose least change (`WarmStart.estimates`) is not negative cannot help and is not tried. Many at a time at first,
of which no two stand in the same relation; fewer whenever that does not help, down to one. When no flip helps that has
not been tried with better prospects, the point counts as the best among its neighbours.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.sparse import csr_array

from sdcdsl.accelerate.cta.senses.warm_start import Point, WarmStart
from sdcdsl.accelerate.cta.tuning import SEARCH
from sdcdsl.deadline import Deadline
from sdcdsl.status import OPTIMAL

STEP = 1e-9  # of the objective: what counts as better


class Flips:
    def __init__(self, warm: WarmStart):
        self.warm = warm
        rows = abs(warm.groups.every)[:, warm.groups.sensitive]
        self.beside = csr_array(rows.T @ rows)  # [k, k]: groups with a level in the same relation

    def improve(
        self,
        point: Point,
        deadline: Deadline,
        tell: Callable[[Point], None] = lambda point: None,
        only: np.ndarray | None = None,
    ) -> Point:
        """`only` bool [k]: the flips that may be tried."""
        warm = self.warm
        tried = np.zeros(len(point.up))  # the prospects with which a flip was made alone, in vain
        if only is not None:
            tried[~only] = -np.inf
        many = None if only is None else 1
        while not deadline.expired:
            least, prospect = warm.estimates(point)
            may = prospect < tried
            if not warm.elastic:
                may &= least < -STEP * abs(point.objective)
            order = np.flatnonzero(may)
            if not len(order):
                return point
            order = order[np.argsort(prospect[order], kind="stable")]
            many = max(len(order) // SEARCH.flip_share, 1) if many is None else min(many, len(order))
            chosen = self._apart(order, many)
            up = point.up.copy()
            up[chosen] = ~up[chosen]
            status, found = warm.solve(up, deadline, below=point.objective * (1 - STEP))
            if status == OPTIMAL and found is not None and found.objective < point.objective * (1 - STEP):
                point = found
                tell(point)
                continue
            if len(chosen) == 1:
                tried[chosen] = np.minimum(1.0001 * prospect[chosen], prospect[chosen])
            many = max(len(chosen) // 2, 1)
        return point

    def _apart(self, order: np.ndarray, many: int) -> np.ndarray:
        chosen, shut = [], set()
        for k in order.tolist():
            if k not in shut:
                chosen.append(k)
                shut.update(self.beside.indices[self.beside.indptr[k] : self.beside.indptr[k + 1]].tolist())
                if len(chosen) == many:
                    break
        return np.array(chosen)
