"""One move for all requirements at once: a valid pattern from a single linear program.

An adjustment z of the whole table (M z = 0) that takes every cell with a requirement as far as its largest level, and
whose negative fits as well, certifies all of them: what it touches, hidden, is a valid pattern. The one with the least
Σ price |z| is a closest table (paper 004 (4)), which dual simplex finds in seconds where moves one by one, each of them
a linear program over the same table, take minutes. It is dear (on ninenew 1.3 times what the search ends with), and
`exchange` goes on from there.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array, eye_array, hstack, vstack

from sdcdsl.accelerate.csp.tuning import LOCAL
from sdcdsl.deadline import Deadline
from sdcdsl.methods.instance import Instance, Requirements
from sdcdsl.numerics.nearest.l1 import L1
from sdcdsl.numerics.sparse_null_space import size
from sdcdsl.status import INFEASIBLE, OPTIMAL

DUST = 1e-7  # of the smallest level: moves below that are rounding errors

Move = tuple[np.ndarray, np.ndarray]  # cells, and how far they go


def joint_adjustment(
    instance: Instance, requirements: Requirements, left: np.ndarray, price: np.ndarray, deadline: Deadline
) -> Move | None:
    """For the requirements `left`, all of them upwards, or as many as can go upwards at once; None if it takes too
    long. Whose own slack is too small both ways is left to other moves."""
    attackers = np.unique(requirements.attacker[left])
    if not 0 < len(attackers) <= LOCAL.many:
        return None
    cells = np.flatnonzero(instance.may_open)
    slack = np.min([np.minimum(*instance.slack(int(k))) for k in attackers], axis=0)[cells]
    level = np.zeros(instance.n)
    np.maximum.at(level, requirements.cell[left], requirements.need[left])
    level = level[cells]
    level[level > slack] = 0.0
    if not level.any():
        return None
    typical = float(np.median(price[price > 0])) if (price > 0).any() else 1.0
    cost = np.maximum(price[cells] / typical, 1e-6)
    M = csr_array(instance.M[:, cells])
    made = L1(M).solve(cost, cost, np.where(level > 0, level, -slack), slack, deadline)
    z = made.z
    if made.status == INFEASIBLE:
        z = _elastic(M, cost, slack, level, deadline)
    if z is None:
        return None
    moved = np.abs(z) > DUST * float(level[level > 0].min())
    return (cells[moved], z[moved]) if moved.any() else None


def _elastic(
    M: csr_array, cost: np.ndarray, slack: np.ndarray, level: np.ndarray, deadline: Deadline
) -> np.ndarray | None:
    """The same where what is missed of a level has a high price: a cell p with a level has z_p + missed_p = at least
    the level."""
    asked = np.flatnonzero(level > 0)
    count, n = len(asked), len(level)
    one = eye_array(count, format="csr")
    pick = csr_array((np.ones(count), (np.arange(count), asked)), shape=(count, n))
    whole = csr_array(vstack([hstack([M, csr_array((size(M)[0], 2 * count))]), hstack([pick, one, -one])]))
    need = level[asked]
    low = np.concatenate([-slack, np.zeros(count), need])
    high = np.concatenate([slack, need + slack[asked], need + slack[asked]])
    price = np.concatenate([cost, np.full(count, LOCAL.dear), np.zeros(count)])
    made = L1(whole).solve(price, price, low, high, deadline)
    return made.z[:n] if made.status == OPTIMAL and made.z is not None else None
