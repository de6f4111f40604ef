"""The closest safe table as a mixed-integer problem of scipy, or by trying every combination of senses.

What is asked for is read from `cta.settings`: ends, levels, weights. How it is found has nothing to do with the
methods, but for norms with squares, where the solver of given senses is asked about all of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array, eye_array, hstack, vstack

from sdcdsl.accelerate.cta.closest import closest
from sdcdsl.deadline import Deadline
from sdcdsl.methods.cta.settings import Settings
from tests.shapes import shape
from tests.waiting import HANGS

INF = np.inf
MANY = 5  # senses to try all combinations of
NODES = 20_000  # of branch and bound: what is found till then is safe, too
WITHIN = 1e-7


def tables(of: Settings) -> Iterator[np.ndarray]:
    """Deviations of tables that are safe, the best of each combination of senses."""
    a = of.of
    free = [np.flatnonzero([down, up])[::-1] for down, up in a.open]
    if len(free) > MANY or not all(len(ways) for ways in free):
        return
    for ways in product(*free):
        sense = np.array([1 if way else -1 for way in ways], dtype=np.int8)
        l, u = a.box(sense)
        if (l > u).any():
            continue
        z = _linear(of, l, u) if of.integer or of.norm in ("L1", "Linf") else closest(of, sense, Deadline(HANGS)).z
        if z is not None:
            yield z


def safe(of: Settings, z: np.ndarray) -> bool:
    """Whether deviations are those of a table, within their ends, far enough and whole if that is asked for."""
    a = of.of
    unit = float(np.abs(z).max(initial=0.0)) or 1.0
    slack = WITHIN * unit
    own = z[a.cells]
    falls, rises = (-own >= a.lpl * (1 - WITHIN)) & (a.sense <= 0), (own >= a.upl * (1 - WITHIN)) & (a.sense >= 0)
    return bool(
        (np.abs(a.M @ z) <= slack).all()
        and (z >= a.low - slack).all()
        and (z <= a.high + slack).all()
        and (falls | rises).all()
        and (not of.integer or (z == np.round(z)).all())
    )


def _linear(of: Settings, l: np.ndarray, u: np.ndarray) -> np.ndarray | None:
    """In L1, or with the largest deviations: columns z⁺, z⁻ and the two maxima. No binaries: nothing leaks."""
    a, n = of.of, of.of.n
    unit = 1.0 if of.integer else float(np.abs(np.concatenate([l[l > 0], u[u < 0], [0.0]])).max()) or 1.0
    M, one = a.M, csr_array(eye_array(n))
    adds_up = hstack([M, -M, csr_array((shape(M)[0], 2))])
    ends = hstack([one, -one, csr_array((n, 2))])
    rows, low, high = [adds_up, ends], [np.zeros(shape(M)[0]), l / unit], [np.zeros(shape(M)[0]), u / unit]
    cost = np.concatenate([of.w_up, of.w_down, [0.0, 0.0]])
    if of.norm != "L1":
        cost = np.concatenate([np.zeros(2 * n), [1.0, 1.0]])
        which = np.stack([of.sensitive, ~of.sensitive], axis=1).astype(float)
        weighted = csr_array(one * of.w[:, None])
        rows.append(hstack([weighted, weighted, csr_array(-which)]))
        low.append(np.full(n, -INF))
        high.append(np.zeros(n))
    top = float(cost.max(initial=0.0)) or 1.0
    solved = milp(
        cost / top,
        constraints=LinearConstraint(csr_array(vstack(rows)), np.concatenate(low), np.concatenate(high)),
        bounds=Bounds(0.0, INF),
        integrality=np.concatenate([np.full(2 * n, int(of.integer)), [0, 0]]),
        options={"mip_rel_gap": 0.0, "node_limit": NODES},
    )
    if solved.x is None:
        return None
    z = (solved.x[:n] - solved.x[n : 2 * n]) * unit
    return np.round(z) if of.integer else np.clip(z, l, u)
