"""The least that a part of the table costs, by branch and bound with cuts separated at every node.

    min π x over the classes of a part, whatever is outside hidden for nothing;   hence  π x ≥ least  for every pattern

Integer solvers see only the cuts they begin with: what their solution violates is separated afterwards, and the next
one begins anew. Here relaxations are warm started from one another, cuts are separated at nodes as at the root, and
serve all of them. A part is small enough for that: a relaxation takes about a millisecond.

The driver (`numerics.branch_and_bound`) dives to the child of lesser bound. Columns are chosen by pseudocosts, and by
strong branching as long as these are not reliable. Bounds of nodes are those that multipliers prove
(`numerics.master`). A node is pruned at `ceiling`, what a known pattern costs here; were it too low, the least would be
proven no further than that, and remain true.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf

import numpy as np
from scipy.sparse import csr_array

from sdcdsl.accelerate.csp.bounding import LEAST, Bounding
from sdcdsl.accelerate.csp.tuning import TREE
from sdcdsl.accelerate.cutting.covers import covers
from sdcdsl.deadline import Deadline
from sdcdsl.numerics.branch_and_bound import BranchAndBound, Expansion, Node, Pseudocosts, Revisit
from sdcdsl.numerics.cut_pool import CutPool
from sdcdsl.numerics.master import Master, Relaxed, Row
from sdcdsl.status import INFEASIBLE, OPTIMAL

WHOLE = 1e-6  # shares that are 0 or 1
NEW = 1e-7  # rows missed by less are nothing new to a solver
LACKING = 1e-6  # a row that requires less than this share of itself requires nothing


@dataclass(frozen=True, eq=False)
class Fixings:
    """Domains of the columns at a node: 0 ≤ lower ≤ upper ≤ 1."""

    lower: np.ndarray  # bool
    upper: np.ndarray

    def fixed(self, column: int, value: bool) -> Fixings:
        lower, upper = self.lower.copy(), self.upper.copy()
        lower[column] = upper[column] = value
        return Fixings(lower, upper)


Part = Node[Fixings]
PRUNED = Expansion[Fixings]()


class PartTree:
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
        self._pool = CutPool(self._master)
        self._all = np.arange(count)
        self._missed = np.zeros(len(self._sides))  # how long ago a requirement fell short
        self._pseudocosts = Pseudocosts(count)
        self._search = BranchAndBound(self._expand, lambda: self._enough, self._dives)
        self._search.push(0.0, Fixings(np.zeros(count, dtype=bool), np.ones(count, dtype=bool)))
        self.x = self._around.copy()  # the last relaxation, all classes
        self.best: np.ndarray | None = None  # the cheapest that protects this part, if cheaper than the ceiling was

    @property
    def nodes(self) -> int:
        return self._search.expanded

    @property
    def closed(self) -> bool:
        return self._search.closed

    @property
    def least(self) -> float:
        """Proven: no pattern costs less here."""
        return max(min(self._enough, self._search.bound), 0.0) + self._constant

    @property
    def _enough(self) -> float:
        return self.ceiling - self._constant - self.close

    def lower_ceiling(self, known: np.ndarray) -> None:
        """By what a pattern costs, x of all classes."""
        self.ceiling = min(self.ceiling, float(self.price[self.columns] @ known[self.columns]) + self._constant)

    def advance(self, nodes: int, deadline: Deadline) -> None:
        self._search.advance(nodes, deadline)

    # ---- a node ------------------------------------------------------------------------------------------------

    def _expand(self, node: Part, deadline: Deadline) -> Expansion[Fixings] | Revisit[Fixings] | None:
        made = self._relaxed(node, deadline)
        if deadline.expired:
            return None
        if made is None:
            return PRUNED
        state = self._fixed(node.state, made)
        made = replace(made, bound=node.bound)  # which other multipliers may have proved
        fractions = np.flatnonzero((made.x > WHOLE) & (made.x < 1 - WHOLE))
        if not len(fractions):
            outcome = self._integral(node.bound, state, np.round(made.x), deadline)
            return None if deadline.expired else outcome
        chosen = self._branching(state, made, fractions)
        if deadline.expired:
            return None
        if chosen is None:
            return PRUNED
        j, bounds = chosen
        return Expansion([(bounds[value], state.fixed(j, bool(value))) for value in (0, 1)])

    def _dives(self, child: Part, least: float, expanded: int) -> bool:
        """A node that is much dearer than the cheapest is not the next, unless an incumbent is wanted now and then."""
        return (
            child.bound <= least + TREE.ahead * (self._enough - least)
            or expanded % TREE.to_the_end[1] < TREE.to_the_end[0]
        )

    def _relaxed(self, node: Part, deadline: Deadline) -> Relaxed | None:
        """The relaxation here, with the cuts it breaks; None if it costs too much."""
        master = self._master
        master.bound_columns(self._all, node.state.lower, node.state.upper)
        levels, seldom = TREE.by_programs if self.bounding.classes.network is None else TREE.by_flows
        first = node.depth < levels
        rounds = 0
        while True:
            made = master.relax()
            if made.status == INFEASIBLE:
                return None
            if made.status != OPTIMAL or made.slack is None:  # all is left to branching
                lower, upper = node.state.lower, node.state.upper
                return Relaxed(OPTIMAL, np.where(lower == upper, lower, 0.5), bound=node.bound)
            node.bound = max(node.bound, made.bound)
            if node.bound >= self._enough:
                return None
            self._pool.leave(made.slack)
            self.x[self.columns] = x = np.clip(made.x, 0.0, 1.0)
            if rounds == TREE.rounds:
                return made
            rounds += 1
            if not self._pool.come_back(x) and not (
                (first or node.depth % seldom == 0) and self._cut(x, deadline, all_sides=first)
            ):
                return made

    def _integral(
        self, bound: float, state: Fixings, x: np.ndarray, deadline: Deadline
    ) -> Expansion[Fixings] | Revisit[Fixings]:
        """Either a pattern of this part, or cuts say why not and the node is relaxed again."""
        rows = self._here(self.bounding.broken(self._whole(x), deadline, self._sides))
        rows = [row for row in rows if float(row[1] @ x[row[0]]) < 1 - NEW]
        if rows:
            self._master.add(rows)
            return PRUNED if (state.lower == state.upper).all() else Revisit(bound, state)
        if self.bounding.complete:
            self.ceiling = min(self.ceiling, float(self.price[self.columns] @ x) + self._constant)
            self.best = self._whole(x)
            return PRUNED
        return Expansion(bound=bound)

    def _fixed(self, state: Fixings, made: Relaxed) -> Fixings:
        """Reduced cost fixing."""
        if made.reduced is None:
            return state
        gap = max(self._enough - made.bound, 0.0) * (1 + 1e-9) + 1e-9
        free = state.lower < state.upper
        return Fixings(state.lower | (free & (made.reduced < -gap)), state.upper & ~(free & (made.reduced > gap)))

    # ---- branching ---------------------------------------------------------------------------------------------

    def _branching(
        self, state: Fixings, made: Relaxed, fractions: np.ndarray
    ) -> tuple[int, tuple[float, float]] | None:
        """A column, and what is proven with it at 0 and at 1; None if both cost too much."""
        score = _product(*self._pseudocosts.estimates(made.x))
        best, most, tried = None, -1.0, 0
        for j in fractions[np.argsort(-score[fractions], kind="stable")][: TREE.candidates].tolist():
            if self._pseudocosts.known(j) >= TREE.known:
                bounds, worth = (made.bound, made.bound), float(score[j])
            elif tried < TREE.tried:
                tried += 1
                bounds = self._strong_branching(state, made, j)
                if max(bounds) >= self._enough:
                    return None if min(bounds) >= self._enough else (j, bounds)
                worth = float(_product(bounds[0] - made.bound, bounds[1] - made.bound))
            else:
                continue
            if worth > most:
                best, most = (j, bounds), worth
        return best

    def _strong_branching(self, state: Fixings, made: Relaxed, j: int) -> tuple[float, float]:
        out = []
        one = np.array([j])
        for value, distance in ((0, made.x[j]), (1, 1 - made.x[j])):
            self._master.bound_columns(one, np.array([float(value)]), np.array([float(value)]))
            child = self._master.relax()
            bound = inf if child.status == INFEASIBLE else max(child.bound, made.bound)
            self._pseudocosts.record(value, j, min(bound, self._enough) - made.bound, distance)
            out.append(bound)
        self._master.bound_columns(one, state.lower[one], state.upper[one])
        return out[0], out[1]

    # ---- cuts --------------------------------------------------------------------------------------------------

    def _cut(self, x: np.ndarray, deadline: Deadline, all_sides: bool) -> int:
        """Near the root every requirement is asked about, below only those that fell short of late."""
        few = self._missed > TREE.seldom_missed
        asked = self._sides if all_sides or not few.any() else few
        found, short = self.bounding.short_of(self._whole(x), asked, deadline)
        self._missed = np.where(short, 1.0, TREE.fading * self._missed)
        rows, master = self._here(found), self._master
        near = np.flatnonzero(master.matrix @ x < 1 + TREE.near)
        more = covers(csr_array(master.matrix[near]), x, TREE.covered) if len(near) else []
        more.sort(key=lambda row: float(row[1] @ x[row[0]]))
        return master.add(rows) + master.add(more[: TREE.covers])

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
    """Those that require something to be hidden, and nothing else."""
    A, rhs = master.matrix, master.rhs
    out: list[Row] = []
    for r in range(master.rows):
        span = slice(A.indptr[r], A.indptr[r + 1])
        if rhs[r] > 0 and (A.data[span] > 0).all():
            out.append((A.indices[span], A.data[span], float(rhs[r])))
    return out


def _product(down: np.ndarray | float, up: np.ndarray | float) -> np.ndarray:
    """The score of a branching: how well both children do."""
    return np.maximum(down, 1e-7) * np.maximum(up, 1e-7)
