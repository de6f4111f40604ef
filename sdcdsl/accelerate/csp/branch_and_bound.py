"""The least that a part of the table costs, by branch and bound with cuts found at every node.

    min π x over the classes of a part, whatever is outside hidden for nothing;   hence  π x ≥ least  for every pattern

Integer solvers see only the cuts they begin with: what their solution breaks is found afterwards, and the next one
begins anew. Here relaxations go on from one another, nodes are asked for cuts as the root is, and what they find serves
all others. A part is small enough for that: a relaxation takes about a millisecond.

Nodes go where the bound is least; from there down, to the side that seems cheaper, until nothing is to be won. Columns
that seem to raise the bound on both sides are branched on: as they did before, and if that is not known, by trying.
Bounds of nodes are those that multipliers prove (`solve.master`). A node is given up at `ceiling`, what a known pattern
costs here; were it too low, the least would be proven no further than that, and remain true.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from heapq import heappop, heappush
from math import inf

import numpy as np
from scipy.sparse import csr_array

from sdcdsl.accelerate.csp.bounding import LEAST, Bounding
from sdcdsl.accelerate.cutting.covers import covers
from sdcdsl.deadline import Deadline
from sdcdsl.numerics.cut_pool import CutPool
from sdcdsl.numerics.master import Master, Relaxed, Row
from sdcdsl.status import INFEASIBLE, OPTIMAL

WHOLE = 1e-6  # shares that are 0 or 1
TOLD = 1e-7  # rows missed by less are nothing new to a solver
LACKING = 1e-6  # a row that asks for less than this share of itself asks for nothing
ROUNDS = 4  # of cuts at a node
# Levels of the tree that ask all sides; of the others, every so manieth asks some.
BY_FLOWS, BY_PROGRAMS = (4, 3), (1, 8)
FADING, SELDOM_MISSED = 0.97, 0.1  # sides that fell short within the last rounds
COVERS, COVERED, NEAR = 15, 0.02, 0.1  # covers a round, by how much they must be missed, and of rows how slack
AHEAD = 0.25  # of what is left to be proven: how much dearer than the cheapest node a child may be to be the next
TO_THE_END = 30, 300  # of so many nodes, so many are gone on with whatever they cost
CANDIDATES, TRIED, KNOWN = 20, 10, 8  # columns looked at, tried, and after how many tries believed


@dataclass(order=True)
class Node:
    bound: float
    number: int
    lower: np.ndarray = field(compare=False)  # bool
    upper: np.ndarray = field(compare=False)
    depth: int = field(compare=False, default=0)


class Tree:
    """`least` grows with every node; `closed` when there is nothing left to find."""

    def __init__(self, bounding: Bounding, part: np.ndarray, price: np.ndarray, ceiling: float, close: float):
        """`part`: classes; `price`: of all classes, not below 0. What is proven up to `close` below the ceiling is
        proven."""
        self.bounding, self.price, self.ceiling, self.close = bounding, price, ceiling, close
        master = bounding.master
        inside = np.zeros(len(price), dtype=bool)
        inside[part] = True
        self._sides = inside[bounding.separation.levels.cell]  # those of this part: others are left alone
        self.columns = np.flatnonzero(inside & (master.lower < master.upper))
        self._place = np.full(len(price), -1)
        self._place[self.columns] = np.arange(len(self.columns))
        self._around = np.where(inside, master.lower, master.upper)  # what is hidden beside the columns
        count = len(self.columns)
        self._master = Master(price[self.columns], np.zeros(count), np.ones(count), np.ones(count, dtype=bool))
        self._constant = float(price[inside] @ self._around[inside])
        self._master.add(self._here(_rows_of(master)))
        self._waiting = CutPool(self._master)
        self._all = np.arange(count)
        self._missed = np.zeros(len(self._sides))  # how long ago a side fell short
        self._gain, self._times = np.zeros((2, count)), np.zeros((2, count))  # of columns: per unit, at 0 and at 1
        self._open: list[Node] = []
        self._next: Node | None = Node(0.0, 0, np.zeros(count, dtype=bool), np.ones(count, dtype=bool))
        self.nodes = 0
        self.x = self._around.copy()  # the last relaxation, all classes
        self.best: np.ndarray | None = None  # the cheapest that protects this part, if cheaper than the ceiling was

    @property
    def closed(self) -> bool:
        return self._next is None and (not self._open or self._open[0].bound >= self._enough)

    @property
    def least(self) -> float:
        """Proven: no pattern costs less here."""
        bounds = [node.bound for node in (self._next, *self._open[:1]) if node is not None]
        return max(min(self._enough, *bounds) if bounds else self._enough, 0.0) + self._constant

    @property
    def _enough(self) -> float:
        return self.ceiling - self._constant - self.close

    def lower_ceiling(self, known: np.ndarray) -> None:
        """By what a pattern costs, x of all classes."""
        self.ceiling = min(self.ceiling, float(self.price[self.columns] @ known[self.columns]) + self._constant)

    def advance(self, nodes: int, deadline: Deadline) -> None:
        for _ in range(nodes):
            if deadline.expired or self.closed:
                return
            node = self._next if self._next is not None else heappop(self._open)
            self._next = node
            child = self._step(node, deadline)
            if deadline.expired:
                return  # it was not looked at in full, and stays
            self.nodes += 1
            self._next = child

    # ---- a node ------------------------------------------------------------------------------------------------

    def _step(self, node: Node, deadline: Deadline) -> Node | None:
        """The child to go on with; the other one waits. None if nothing is to be won here."""
        if node.bound >= self._enough:
            return None
        made = self._settled(node, deadline)
        if made is None or deadline.expired:
            return None
        node = self._fixed(node, made)
        made = replace(made, bound=node.bound)  # which other multipliers may have proved
        x = made.x
        fractions = np.flatnonzero((x > WHOLE) & (x < 1 - WHOLE))
        if not len(fractions):
            return self._candidate(node, np.round(x), deadline)
        chosen = self._branching(node, made, fractions)
        if chosen is None:
            return None
        j, bounds = chosen
        kids = []
        for value in (0, 1):
            lower, upper = node.lower.copy(), node.upper.copy()
            lower[j] = upper[j] = bool(value)
            kids.append(Node(bounds[value], 2 * self.nodes + value, lower, upper, node.depth + 1))
        kids = sorted(kid for kid in kids if kid.bound < self._enough)
        ahead = 1 if kids and self._worth(kids[0]) else 0
        for kid in kids[ahead:]:
            heappush(self._open, kid)
        return kids[0] if ahead else None

    def _worth(self, kid: Node) -> bool:
        """Whether to go on from here: a node that is much dearer than the cheapest is not the next to be looked at,
        unless whole numbers are wanted, now and then."""
        if not self._open:
            return True
        least = self._open[0].bound
        return kid.bound <= least + AHEAD * (self._enough - least) or self.nodes % TO_THE_END[1] < TO_THE_END[0]

    def _settled(self, node: Node, deadline: Deadline) -> Relaxed | None:
        """The relaxation here, with the cuts it breaks; None if it costs too much."""
        master = self._master
        master.bound_columns(self._all, node.lower, node.upper)
        levels, seldom = BY_PROGRAMS if self.bounding.classes.network is None else BY_FLOWS
        first = node.depth < levels
        rounds = 0
        while True:
            made = master.relax()
            if made.status == INFEASIBLE:
                return None
            if made.status != OPTIMAL or made.slack is None:  # all is left to branching
                return Relaxed(OPTIMAL, np.where(node.lower == node.upper, node.lower, 0.5), bound=node.bound)
            node.bound = max(node.bound, made.bound)
            if node.bound >= self._enough:
                return None
            self._waiting.leave(made.slack)
            self.x[self.columns] = x = np.clip(made.x, 0.0, 1.0)
            if rounds == ROUNDS:
                return made
            rounds += 1
            if not self._waiting.come_back(x) and not (
                (first or node.depth % seldom == 0) and self._cut(x, deadline, all_sides=first)
            ):
                return made

    def _candidate(self, node: Node, x: np.ndarray, deadline: Deadline) -> Node | None:
        """Whole numbers: either a pattern of this part, or cuts say why not and the node is asked again."""
        rows = self._here(self.bounding.broken(self._whole(x), deadline, self._sides))
        rows = [row for row in rows if float(row[1] @ x[row[0]]) < 1 - TOLD]
        if rows:
            self._master.add(rows)
            return None if (node.lower == node.upper).all() else node
        if self.bounding.complete:
            self.ceiling = min(self.ceiling, float(self.price[self.columns] @ x) + self._constant)
            self.best = self._whole(x)
        return None

    def _fixed(self, node: Node, made: Relaxed) -> Node:
        """Columns that their reduced costs alone keep where they are."""
        if made.reduced is None:
            return node
        room = max(self._enough - made.bound, 0.0) * (1 + 1e-9) + 1e-9
        free = node.lower < node.upper
        lower, upper = node.lower | (free & (made.reduced < -room)), node.upper & ~(free & (made.reduced > room))
        return Node(node.bound, node.number, lower, upper, node.depth)

    # ---- branching ---------------------------------------------------------------------------------------------

    def _branching(self, node: Node, made: Relaxed, fractions: np.ndarray) -> tuple[int, tuple[float, float]] | None:
        """A column, and what is proven with it at 0 and at 1; None if both cost too much."""
        x = made.x
        guess = [self._gain[k] / np.maximum(self._times[k], 1) for k in (0, 1)]
        for k in (0, 1):
            mean = self._gain[k].sum() / max(self._times[k].sum(), 1)
            guess[k] = np.where(self._times[k] > 0, guess[k], mean)
        score = _both(guess[0] * x, guess[1] * (1 - x))
        best, most, tried = None, -1.0, 0
        for j in fractions[np.argsort(-score[fractions], kind="stable")][:CANDIDATES].tolist():
            if self._times[:, j].min() >= KNOWN:
                bounds, worth = (made.bound, made.bound), float(score[j])
            elif tried < TRIED:
                tried += 1
                bounds = self._tried(node, made, j)
                if max(bounds) >= self._enough:
                    return None if min(bounds) >= self._enough else (j, bounds)
                worth = float(_both(bounds[0] - made.bound, bounds[1] - made.bound))
            else:
                continue
            if worth > most:
                best, most = (j, bounds), worth
        return best

    def _tried(self, node: Node, made: Relaxed, j: int) -> tuple[float, float]:
        out = []
        one = np.array([j])
        for value, far in ((0.0, made.x[j]), (1.0, 1 - made.x[j])):
            self._master.bound_columns(one, np.array([value]), np.array([value]))
            child = self._master.relax()
            bound = inf if child.status == INFEASIBLE else max(child.bound, made.bound)
            self._gain[int(value), j] += (min(bound, self._enough) - made.bound) / far
            self._times[int(value), j] += 1
            out.append(bound)
        self._master.bound_columns(one, node.lower[one], node.upper[one])
        return out[0], out[1]

    # ---- cuts --------------------------------------------------------------------------------------------------

    def _cut(self, x: np.ndarray, deadline: Deadline, all_sides: bool) -> int:
        """Near the root every side is asked about, below only those that fell short of late."""
        few = self._missed > SELDOM_MISSED
        asked = self._sides if all_sides or not few.any() else few
        found, short = self.bounding.short_of(self._whole(x), asked, deadline)
        self._missed = np.where(short, 1.0, FADING * self._missed)
        rows, master = self._here(found), self._master
        near = np.flatnonzero(master.matrix @ x < 1 + NEAR)
        more = covers(csr_array(master.matrix[near]), x, COVERED) if len(near) else []
        more.sort(key=lambda row: float(row[1] @ x[row[0]]))
        return master.add(rows) + master.add(more[:COVERS])

    def _whole(self, x: np.ndarray) -> np.ndarray:
        out = self._around.copy()
        out[self.columns] = x
        return out

    def _here(self, rows: list[Row]) -> list[Row]:
        """What rows ask of the columns, beside what is hidden around them: a x ≥ 1, 0 < a ≤ 1."""
        out: list[Row] = []
        for columns, values, rhs in rows:
            place = self._place[columns]
            mine = place >= 0
            lacking = rhs - float(values[~mine] @ self._around[columns[~mine]])
            if lacking > LACKING * rhs:
                out.append((place[mine], np.clip(values[mine] / lacking, LEAST, 1.0), 1.0))
        return out


def _rows_of(master: Master) -> list[Row]:
    """Those that ask for something to be hidden, and nothing else."""
    A, rhs = master.matrix, master.rhs
    out: list[Row] = []
    for r in range(master.rows):
        span = slice(A.indptr[r], A.indptr[r + 1])
        if rhs[r] > 0 and (A.data[span] > 0).all():
            out.append((A.indices[span], A.data[span], float(rhs[r])))
    return out


def _both(one: np.ndarray | float, other: np.ndarray | float) -> np.ndarray:
    """How well both sides of a branching do."""
    return np.maximum(one, 1e-7) * np.maximum(other, 1e-7)
