"""All directions, by branch and bound over the relaxation with its cuts.

Cuts of `envelopes` make the bound rise at once where a direction is fixed: a handful of large levels decide about most
of the gap, and trees have tens of nodes where those of a mixed-integer solver, over the same table without them, have
thousands. Nodes share one linear program. Its basis stays dual feasible whatever the ends of b, so that every node is
warm started from the last; cuts separated at one serve all.

The driver (`numerics.branch_and_bound`) is best-first. b is chosen by pseudocosts, by strong branching where it was
never fixed before. The bound of every node is proved by its multipliers, and so is that nothing is in it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf

import numpy as np

from sdcdsl.accelerate.cta.senses.relaxation import Relaxation
from sdcdsl.accelerate.cta.tuning import TREE
from sdcdsl.deadline import Deadline
from sdcdsl.numerics.branch_and_bound import BranchAndBound, Expansion, Node, Pseudocosts

WHOLE = 1e-6  # of b
SMALL = 1e-6  # of the gap: as much as a direction is believed to bring at least


@dataclass(frozen=True, eq=False)
class Choice:
    """A node whose relaxation is solved: ends of b, and b itself."""

    low: np.ndarray
    high: np.ndarray
    b: np.ndarray

    @property
    def fractional(self) -> np.ndarray:
        return _fractional(self.b, self.low, self.high)


@dataclass(frozen=True)
class Visit:
    """The bound of a node; `choice` if there is something to branch on in it."""

    bound: float
    choice: Choice | None = None


class SenseTree:
    """`ceiling` gives the best objective so far, `look` may look for a better one within the ends of b of a node,
    `settle` is given directions with which nothing is left to choose, `enough` says of a bound whether it need not be
    better."""

    def __init__(
        self,
        relaxation: Relaxation,
        ceiling: Callable[[], float],
        look: Callable[[np.ndarray, np.ndarray], None],
        settle: Callable[[np.ndarray], None],
        enough: Callable[[float], bool],
    ):
        self.relaxation, self.deadline = relaxation, Deadline()
        self.ceiling, self.look, self.settle, self.enough = ceiling, look, settle, enough
        self.nodes = 0
        self.bound = relaxation.bound
        self._leaves = inf  # the least bound of nodes without anything to choose
        self._pseudocosts = Pseudocosts(relaxation.model.k)
        self._search = BranchAndBound(self._expand, ceiling)

    def run(self, deadline: Deadline, tell: Callable[[float], None] = lambda bound: None) -> bool:
        """False if the solver gave up before time was over; `bound` holds in any case. Called again, it goes on."""
        self.deadline = deadline
        search = self._search
        if not self.nodes:
            model = self.relaxation.model
            first = model.width - model.k
            root = self._visit(model.low[first:].copy(), model.high[first:].copy(), TREE.rounds)
            if root is None:
                return deadline.expired
            if root.choice is not None:
                search.push(root.bound, root.choice)
        while not search.closed and not deadline.expired:
            self.bound = max(self.bound, min(search.bound, self._leaves))
            tell(self.bound)
            if self.enough(self.bound):
                return True
            if not search.step(deadline):
                return deadline.expired
        if search.closed:
            self.bound = max(self.bound, min(self.ceiling(), self._leaves))
        return True

    # ---- one node -----------------------------------------------------------------------------------------------

    def _visit(self, low: np.ndarray, high: np.ndarray, rounds: int) -> Visit | None:
        """None if the solver failed or ran out of time."""
        relaxation = self.relaxation
        relaxation.choose(low, high)
        bound, made = -inf, -inf
        for again in range(TREE.most_rounds):
            answer = relaxation.solve(self.deadline)
            if answer is None:
                return None
            gained, made, bound = answer - bound, answer, max(bound, answer)
            if bound >= self.ceiling():
                break
            # Where nothing is left to choose, rows that are missing are all that is between this and a table.
            choosing = _fractional(relaxation.b, low, high).any()
            if choosing and (again >= rounds or gained <= TREE.worth * (self.ceiling() - bound)):
                break
            if not relaxation.missing():
                break
        self.nodes += 1
        ceiling = self.ceiling()
        if bound >= ceiling:
            return Visit(bound)
        b = relaxation.b.copy()
        # Reduced cost fixing: where the other direction is dearer than what is known, there is no choice.
        reduced = relaxation.reduced[relaxation.model.width - relaxation.model.k :]
        sure = np.abs(reduced) > max(ceiling - made, 0.0) * (1 + 1e-9)
        low, high = np.where(sure & (reduced < 0), high, low), np.where(sure & (reduced > 0), low, high)
        choice = Choice(low, high, b)
        if choice.fractional.any():
            return Visit(bound, choice)
        self._leaves = min(self._leaves, bound)
        self.settle(np.where(low == high, low, b) > 0.5)
        return Visit(bound)

    def _expand(self, node: Node[Choice], deadline: Deadline) -> Expansion[Choice] | None:
        self.look(node.state.low, node.state.high)
        if node.bound >= self.ceiling():
            return Expansion(bound=node.bound)
        gap = max(self.ceiling() - node.bound, 0.0)
        choices = np.flatnonzero(node.state.fractional)
        order = choices[np.argsort(-self._scores(node.state.b, gap)[choices], kind="stable")]
        best, chosen, children = -1.0, -1, None
        for j in order[: TREE.first if self.nodes < TREE.nodes else TREE.then].tolist():
            visits = None
            if self._pseudocosts.known(j):
                score = float(self._scores(node.state.b, gap)[j])
            else:
                visits = self._children(node, j, gap, 0)
                if visits is None:
                    return None
                score = _product([visit.bound - node.bound for visit in visits], gap)
                if any(visit.bound >= self.ceiling() for visit in visits):  # one child is pruned: nothing is better
                    best, chosen, children = score, j, visits
                    break
            if score > best:
                best, chosen, children = score, j, visits
        if children is None:
            children = self._children(node, chosen, gap, TREE.rounds)
        if children is None:
            return None
        return Expansion([(visit.bound, visit.choice) for visit in children if visit.choice is not None])

    def _children(self, node: Node[Choice], j: int, gap: float, rounds: int) -> list[Visit] | None:
        """b_j = 0 and 1."""
        state, out = node.state, []
        for value, distance in ((0, state.b[j]), (1, 1 - state.b[j])):
            ends = state.low.copy(), state.high.copy()
            ends[1 - value][j] = value
            visit = self._visit(*ends, rounds)
            if visit is None:
                return None
            self._pseudocosts.record(value, j, min(visit.bound - node.bound, gap), max(distance, 1e-3))
            out.append(visit)
        return out

    def _scores(self, b: np.ndarray, gap: float) -> np.ndarray:
        return _product(self._pseudocosts.estimates(b, SMALL * gap), gap)


def _product(gains, gap: float):
    """The score of a branching: how well both children do."""
    down, up = (np.clip(g, SMALL * gap, gap) for g in gains)
    return down * up


def _fractional(b: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    return (low < high) & (b > WHOLE) & (b < 1 - WHOLE)
