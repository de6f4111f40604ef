"""Branch and bound over directions, for norms that have no mixed-integer solver.

In a node some groups of sensitive cells are sent up or down; the others may be anywhere between their ends, also within
their levels. Its closest table is a convex problem, which the solver of the norm answers with a proven bound: no table
with these directions is closer. The node with the lowest bound is divided next, by the group that is furthest within
its level where that costs most. A table in which no group is left within its level is a solution.
"""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush
from itertools import count
from math import inf

import numpy as np

from sdcdsl.accelerate.cta.closest import closest
from sdcdsl.accelerate.cta.senses.groups import STILL, Groups
from sdcdsl.deadline import Deadline
from sdcdsl.methods.cta.settings import Settings
from sdcdsl.status import INFEASIBLE, OPTIMAL

FREE, DOWN, UP = -1, 0, 1
MET = 1e-9  # share of a level that is nothing
ROUNDED = 8  # one node in so many is asked which way all its groups lean

Offer = Callable[[np.ndarray], float]  # directions; the best objective known then


def branched(of: Settings, groups: Groups, best: float, gap: float, deadline: Deadline, offer: Offer) -> float:
    """A bound of all tables; within `gap` of the best, if time allows."""
    first = np.full(len(groups.sensitive), FREE)
    first[~groups.open[:, 0]], first[~groups.open[:, 1]] = UP, DOWN
    number, price = count(), _price(of, groups)
    waiting = [(0.0, next(number), first)]
    done = inf  # the lowest bound of nodes that are not divided any more
    while waiting and waiting[0][0] < (1 - gap) * best and not deadline.expired:
        bound, i, way = heappop(waiting)
        solved = closest(of, _senses(groups, way), deadline)
        if solved.status == INFEASIBLE:
            continue
        if solved.status != OPTIMAL or solved.z is None or solved.bound is None:
            done = min(done, bound)
            continue
        bound = max(bound, solved.bound)
        D = groups.moves(solved.z)[groups.sensitive]
        within = np.where(way == FREE, _within(groups, D), 0.0)
        if not within.any():
            best = offer(D > 0)
            done = min(done, bound)
            continue
        if i % ROUNDED == 0:
            best = offer(np.where(way == FREE, D > 0, way == UP))
        k = int(np.argmax(price * within))
        for side in (DOWN, UP):
            child = way.copy()
            child[k] = side
            heappush(waiting, (bound, next(number), child))
    return min(done, waiting[0][0] if waiting else inf)


def _senses(groups: Groups, way: np.ndarray) -> np.ndarray:
    sense, moves = groups.senses(way == UP), groups.place != STILL
    sense[moves] = np.where(way[groups.at[groups.place[moves]]] == FREE, 0, sense[moves])
    return sense


def _within(groups: Groups, D: np.ndarray) -> np.ndarray:
    """How far groups are within their levels, 0 where they are not."""
    s = groups.sensitive
    up, down = groups.up[s], groups.down[s]
    inside = np.minimum(up - D, D + down)
    return np.where(inside > MET * np.maximum(up, down), inside, 0.0)


def _price(of: Settings, groups: Groups) -> np.ndarray:
    """A measure of what a unit of a group costs in the norm."""
    square = of.w_square if of.norm != "Linf" else np.where(of.w > 0, of.w, 0.0) ** 2
    return np.sqrt(groups.squares(square)[groups.sensitive]) + 1e-300
