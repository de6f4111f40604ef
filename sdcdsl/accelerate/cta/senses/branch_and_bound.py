"""All directions, by branch and bound over the relaxation with its cuts.

Cuts of `envelopes` make the bound rise at once where a direction is fixed: a handful of large levels decide about most
of the gap, and trees have tens of nodes where those of a mixed-integer solver, over the same table without them, have
thousands. Nodes share one linear program. Its basis stays dual feasible whatever the ends of b, so that every node
goes on from the last one's; cuts found at one serve all.

Which b is next: the one for which both directions promise the most, as seen wherever it was fixed before. Where that
was never, both are tried. The bound of every node is proved by its multipliers, and so is that nothing is in it.
"""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush
from itertools import count
from math import inf

import numpy as np

from sdcdsl.accelerate.cta.senses.relaxation import Relaxation
from sdcdsl.deadline import Deadline

WHOLE = 1e-6  # of b
FIRST, THEN = 24, 6  # how many b are tried at the first nodes, and at later ones
NODES = 4  # that are the first ones
ROUNDS, MOST_ROUNDS = 4, 50  # of cuts at a node; at one without anything to choose
SMALL = 1e-6  # of the gap: as much as a direction is believed to bring at least
WORTH = 0.02  # of the gap: rounds of cuts that bring less end

Node = tuple[float, int, np.ndarray, np.ndarray, np.ndarray]  # bound, number, ends of b, b itself


class Tree:
    """`ceiling` gives the best objective so far, `look` may look for a better one within the ends of b of a node,
    `settle` is told directions with which nothing is left to choose, `enough` says of a bound whether it need not be
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
        k = relaxation.model.k
        self._gained, self._times = np.zeros((2, k)), np.zeros((2, k))  # DOWN, UP: bound a unit of b
        self._number = count()
        self._waiting: list[Node] = []

    def run(self, deadline: Deadline, tell: Callable[[float], None] = lambda bound: None) -> bool:
        """False if the solver gave up before time was over; `bound` holds in any case. Called again, it goes on."""
        self.deadline = deadline
        waiting = self._waiting
        if not self.nodes:
            model = self.relaxation.model
            first = model.width - model.k
            if self._visit(waiting, model.low[first:].copy(), model.high[first:].copy(), ROUNDS) is None:
                return deadline.expired
        while waiting and not deadline.expired:
            self.bound = max(self.bound, min(waiting[0][0], self._leaves))
            tell(self.bound)
            if self.enough(self.bound):
                return True
            node = waiting[0]
            self.look(node[2], node[3])
            if node[0] >= self.ceiling():
                waiting.clear()
            elif not self._branch(waiting, node):
                return deadline.expired
        if not waiting:
            self.bound = max(self.bound, min(self.ceiling(), self._leaves))
        return True

    # ---- one node -----------------------------------------------------------------------------------------------

    def _visit(self, waiting: list[Node], low: np.ndarray, high: np.ndarray, rounds: int) -> float | None:
        """The bound of a node, which is put among those that wait if there is something to choose in it."""
        relaxation = self.relaxation
        relaxation.choose(low, high)
        bound, made = -inf, -inf
        for again in range(MOST_ROUNDS):
            answer = relaxation.solve(self.deadline)
            if answer is None:
                return None
            gained, made, bound = answer - bound, answer, max(bound, answer)
            if bound >= self.ceiling():
                break
            # Where nothing is left to choose, rows that are missing are all that is between this and a table.
            choosing = _open(relaxation.b, low, high).any()
            if choosing and (again >= rounds or gained <= WORTH * (self.ceiling() - bound)):
                break
            if not relaxation.missing():
                break
        self.nodes += 1
        ceiling = self.ceiling()
        if bound >= ceiling:
            return bound
        b = relaxation.b.copy()
        # Where the other direction is dearer than what is known, there is no choice.
        reduced = relaxation.reduced[relaxation.model.width - relaxation.model.k :]
        sure = np.abs(reduced) > max(ceiling - made, 0.0) * (1 + 1e-9)
        low, high = np.where(sure & (reduced < 0), high, low), np.where(sure & (reduced > 0), low, high)
        if _open(b, low, high).any():
            heappush(waiting, (bound, next(self._number), low, high, b))
        else:
            self._leaves = min(self._leaves, bound)
            self.settle(np.where(low == high, low, b) > 0.5)
        return bound

    def _branch(self, waiting: list[Node], node: Node) -> bool:
        bound, _, low, high, b = node
        gap = max(self.ceiling() - bound, 0.0)
        choices = np.flatnonzero(_open(b, low, high))
        order = choices[np.argsort(-self._promise(b, gap)[choices], kind="stable")]
        best, made = -1.0, None
        for j in order[: FIRST if self.nodes < NODES else THEN].tolist():
            if self._times[:, j].all():
                children, score = None, float(self._promise(b, gap)[j])
            else:
                children = self._both(node, j, gap, 0)
                if children is None:
                    return False
                score = self._product([value - bound for value, _ in children], gap)
                if any(value >= self.ceiling() for value, _ in children):  # one way is shut: nothing is better
                    best, made = score, (j, children)
                    break
            if score > best:
                best, made = score, (j, children)
        assert made is not None
        j, children = made
        if children is None:
            children = self._both(node, j, gap, ROUNDS)
        if children is None:
            return False
        heappop(waiting)
        for _, some in children:
            for child in some:
                heappush(waiting, child)
        return True

    def _both(self, node: Node, j: int, gap: float, rounds: int) -> list[tuple[float, list[Node]]] | None:
        """The bounds of b_j = 0 and 1, and what waits behind them."""
        bound, _, low, high, b = node
        out = []
        for way, room in ((0, b[j]), (1, 1 - b[j])):
            ends = low.copy(), high.copy()
            ends[1 - way][j] = way
            some: list[Node] = []
            value = self._visit(some, *ends, rounds)
            if value is None:
                return None
            self._gained[way, j] += min(value - bound, gap) / max(room, 1e-3)
            self._times[way, j] += 1
            out.append((value, some))
        return out

    def _promise(self, b: np.ndarray, gap: float) -> np.ndarray:
        known = self._times > 0
        typical = np.array([g[k].sum() / max(k.sum(), 1) for g, k in zip(self._gained, known, strict=True)])
        each = np.where(known, self._gained / np.maximum(self._times, 1), np.maximum(typical, SMALL * gap)[:, None])
        return self._product(each * np.stack([b, 1 - b]), gap)

    @staticmethod
    def _product(gains, gap: float):
        down, up = (np.clip(g, SMALL * gap, gap) for g in gains)
        return down * up


def _open(b: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    return (low < high) & (b > WHOLE) & (b < 1 - WHOLE)
