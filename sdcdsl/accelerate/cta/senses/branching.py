"""Branch and bound over directions, for norms that have no mixed-integer solver.

In a node some groups of sensitive cells are sent up or down; the others may be anywhere between their ends, also within
their levels. Its closest table is a convex problem, which the solver of the norm answers with a proven bound: no table
with these directions is closer. The driver (`numerics.branch_and_bound`) is best-first; a node is branched on the group
that is furthest within its level where that costs most. A table in which no group is left within its level is a
solution.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sdcdsl.accelerate.cta.closest import closest
from sdcdsl.accelerate.cta.senses.groups import Groups
from sdcdsl.accelerate.cta.tuning import TREE
from sdcdsl.deadline import Deadline
from sdcdsl.methods.cta.settings import Settings
from sdcdsl.numerics.aggregation import FIXED
from sdcdsl.numerics.branch_and_bound import BranchAndBound, Expansion, Node
from sdcdsl.status import INFEASIBLE, OPTIMAL

FREE, DOWN, UP = -1, 0, 1
MET = 1e-9  # share of a level that is nothing

Offer = Callable[[np.ndarray], float]  # directions; the best objective known then


def branched(of: Settings, groups: Groups, best: float, gap: float, deadline: Deadline, offer: Offer) -> float:
    """A bound of all tables; within `gap` of the best, if time allows."""
    price = _price(of, groups)

    def expand(node: Node[np.ndarray], deadline: Deadline) -> Expansion[np.ndarray]:
        nonlocal best
        way = node.state
        solved = closest(of, _senses(groups, way), deadline)
        if solved.status == INFEASIBLE:
            return Expansion()
        if solved.status != OPTIMAL or solved.z is None or solved.bound is None:
            return Expansion(bound=node.bound)
        bound = max(node.bound, solved.bound)
        D = groups.moves(solved.z)[groups.sensitive]
        within = np.where(way == FREE, _within(groups, D), 0.0)
        if not within.any():
            best = offer(D > 0)
            return Expansion(bound=bound)
        if node.number % TREE.rounded == 0:
            best = offer(np.where(way == FREE, D > 0, way == UP))
        k = int(np.argmax(price * within))
        children = []
        for side in (DOWN, UP):
            child = way.copy()
            child[k] = side
            children.append((bound, child))
        return Expansion(children)

    root = np.full(len(groups.sensitive), FREE)
    root[~groups.open[:, 0]], root[~groups.open[:, 1]] = UP, DOWN
    search = BranchAndBound(expand, lambda: (1 - gap) * best)
    search.push(0.0, root)
    while not deadline.expired and search.step(deadline):
        pass
    return search.bound


def _senses(groups: Groups, way: np.ndarray) -> np.ndarray:
    sense, moves = groups.senses(way == UP), groups.place != FIXED
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
