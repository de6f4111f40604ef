"""Best-first branch and bound with diving, for any relaxation.

The caller knows the problem: it solves the relaxation of a node, chooses what to branch on, and keeps the incumbent.
The driver knows the tree: which node is next, what is pruned, and what is proven. It takes the open node of least
bound, and dives from it where the caller's rule says so. Ties are broken by the order in which nodes were made, so that
the same problem gives the same tree.

    bound = the least bound of all that is open, was pruned, or was given up

is a bound of the whole problem at any moment: an interrupted node stays open.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from heapq import heappop, heappush
from math import inf
from typing import Generic, TypeVar

import numpy as np

from sdcdsl.deadline import Deadline

State = TypeVar("State")  # of a node: domains of its variables, and what else the caller keeps with them


@dataclass(order=True)
class Node(Generic[State]):
    bound: float
    number: int
    state: State = field(compare=False)
    depth: int = field(compare=False, default=0)


@dataclass(frozen=True)
class Expansion(Generic[State]):
    """What became of a node. `children`: bound and state of each. `bound`: of what is given up in the node without
    children; inf if there is nothing in it, or nothing below the incumbent."""

    children: list[tuple[float, State]] = field(default_factory=list)
    bound: float = inf


@dataclass(frozen=True)
class Revisit(Generic[State]):
    """Rows were added that this node violates: it is expanded again at once."""

    bound: float
    state: State


Outcome = Expansion[State] | Revisit[State]


class BranchAndBound(Generic[State]):
    """`expand` returns None if it could not finish (time, or the solver failed): the node stays open. Nodes whose bound
    is at least `cutoff()` are pruned. `dive(child, least, expanded)` says whether to go on with the best child although
    an open node has the bound `least`."""

    def __init__(
        self,
        expand: Callable[[Node[State], Deadline], Outcome[State] | None],
        cutoff: Callable[[], float],
        dive: Callable[[Node[State], float, int], bool] | None = None,
    ):
        self._expand, self._cutoff, self._dive = expand, cutoff, dive
        self._open: list[Node[State]] = []
        self._current: Node[State] | None = None
        self._pruned = inf
        self._made = 0
        self.expanded = 0

    @property
    def bound(self) -> float:
        """inf if nothing is left and nothing was pruned."""
        current = inf if self._current is None else self._current.bound
        return min(current, self._open[0].bound if self._open else inf, self._pruned)

    @property
    def closed(self) -> bool:
        return self._current is None and (not self._open or self._open[0].bound >= self._cutoff())

    @property
    def first(self) -> Node[State] | None:
        """The node to be expanded next."""
        return self._current if self._current is not None else (self._open[0] if self._open else None)

    def push(self, bound: float, state: State, depth: int = 0) -> None:
        heappush(self._open, self._node(bound, state, depth))

    def step(self, deadline: Deadline) -> bool:
        """Expands one node; False if that could not be finished, or if nothing is left to expand."""
        if self.closed:
            return False
        node = self._current if self._current is not None else heappop(self._open)
        self._current = node
        made = Expansion(bound=node.bound) if node.bound >= self._cutoff() else self._expand(node, deadline)
        if made is None:
            return False
        self._current = None
        if isinstance(made, Revisit):
            self._current = Node(made.bound, node.number, made.state, node.depth)
        else:
            self._pruned = min(self._pruned, made.bound)
            self._keep([self._node(bound, state, node.depth + 1) for bound, state in made.children])
        self.expanded += 1
        return True

    def advance(self, nodes: int, deadline: Deadline) -> None:
        """Expands up to so many nodes."""
        for _ in range(nodes):
            if deadline.expired or not self.step(deadline):
                return

    def _node(self, bound: float, state: State, depth: int) -> Node[State]:
        node = Node(bound, self._made, state, depth)
        self._made += 1
        return node

    def _keep(self, children: list[Node[State]]) -> None:
        cutoff = self._cutoff()
        self._pruned = min([self._pruned, *(child.bound for child in children if child.bound >= cutoff)])
        kept = sorted(child for child in children if child.bound < cutoff)
        if kept and self._dive is not None and self._worth(kept[0]):
            self._current = kept.pop(0)
        for child in kept:
            heappush(self._open, child)

    def _worth(self, child: Node[State]) -> bool:
        assert self._dive is not None
        return not self._open or self._dive(child, self._open[0].bound, self.expanded)


class Pseudocosts:
    """By how much the bound rose per unit of distance when a 0–1 variable was fixed: at 0 (row 0) and at 1 (row 1)."""

    def __init__(self, variables: int):
        self.gain, self.times = np.zeros((2, variables)), np.zeros((2, variables))

    def record(self, value: int, variable: int, gain: float, distance: float) -> None:
        self.gain[value, variable] += gain / distance
        self.times[value, variable] += 1

    def known(self, variable: int) -> float:
        """How often both values of a variable were tried."""
        return float(self.times[:, variable].min())

    def estimates(self, x: np.ndarray, least: float = 0.0) -> np.ndarray:
        """[2, variable]: what each value is expected to add to the bound; the mean of all where it was never tried,
        at least `least` per unit."""
        mean = self.gain.sum(axis=1) / np.maximum(self.times.sum(axis=1), 1)
        each = self.gain / np.maximum(self.times, 1)
        each = np.where(self.times > 0, each, np.maximum(mean, least)[:, None])
        return each * np.stack([x, 1 - x])
