"""Bounds that add up: what each part of the table costs at least, for prices that the relaxation divides among them.

Cuts leave a gap in every corner of a table. Integer solvers that look at all of it at once need as many nodes for it as
the corners have together, multiplied; part by part (`parts`) they need the sum. The multipliers y of the relaxation say
what a part has to answer for: the cuts that lie in it. With π their load and what reduced costs leave of the cost,

    π x ≥ least π x over all that protects this part, everything outside being hidden for nothing   (`tree`)

holds for every pattern. The relaxation satisfies it only up to the gap of that part, and with one such row a part its
bound rises by all of these gaps. What is cheapest in a part is tried in the best pattern so far, too.

Dividing prices has its own loss, and tables whose cells are closely tied together do without: the whole as one tree has
a first look and the last word. Each is gone on with only as long as it raises the bound.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sdcdsl.accelerate.csp.bounding import Bounding
from sdcdsl.accelerate.csp.branch_and_bound import PartTree
from sdcdsl.accelerate.csp.tuning import PARTS
from sdcdsl.deadline import Deadline
from sdcdsl.numerics.master import Relaxed, Row
from sdcdsl.numerics.partition import parts_of
from sdcdsl.status import OPTIMAL

SURE = 1 - 1e-10
CLOSE = 1e-5  # of what a pattern costs in a part: what is proven up to here is proven
EXACT = 1e-10  # the same in the table


class ByParts:
    """`best` is x of the best pattern and its cost; `propose` takes an x to make a pattern of, and whether it is
    whole; `enough` says of a bound whether it need not be better."""

    def __init__(
        self,
        bounding: Bounding,
        deadline: Deadline,
        best: Callable[[], tuple[np.ndarray, float] | None],
        propose: Callable[[np.ndarray, bool], None],
        enough: Callable[[float], bool],
        tell: Callable[[], None],
    ):
        self.bounding, self.deadline = bounding, deadline
        self.best, self.propose, self.enough, self.tell = best, propose, enough, tell

    def run(self) -> None:
        self._again(False, PARTS.brief)
        for _ in range(PARTS.times):
            if not self._again(True, PARTS.patient):
                break
        self._again(False, PARTS.patient)

    def _again(self, apart: bool, patience: tuple[float, float]) -> bool:
        """With prices divided anew among the parts, or all of the table as one; whether it is worth another time."""
        bounding, before, best = self.bounding, self.bounding.bound, self.best()
        if best is None or self.deadline.expired or self.enough(before):
            return False
        bounding.fix(best[1], best[0])
        made = bounding.master.relax()
        is_open = bounding.master.upper > 0
        parts = parts_of(bounding.classes.matrix.sparse, is_open) if apart else [np.flatnonzero(is_open)]
        shared = sum(map(len, parts)) - is_open.sum()
        if made.status != OPTIMAL or (apart and (len(parts) < 2 or shared > PARTS.shared * is_open.sum())):
            return False
        prices = self._prices(made, parts) if apart else [bounding.master.cost]
        trees = []
        for part, price in zip(parts, prices, strict=True):
            ceiling = float(price @ best[0])
            close = CLOSE * ceiling if apart else max(PARTS.nearly * bounding.step / bounding.unit, EXACT * ceiling)
            trees.append(PartTree(bounding, part, price, ceiling, close))
        self._grow(trees, made, patience)
        if not apart:
            bounding.proved(trees[0].least * SURE)  # as a row it would join all parts
            return False
        rows: list[Row] = []
        for tree in trees:
            if tree.least > float(tree.price @ made.x):
                columns = np.flatnonzero(tree.price)
                values = tree.price[columns] / (tree.least * SURE)
                rows.append((columns, np.minimum(values, 1.0), 1.0))
        bounding.add_lasting(rows)
        after = bounding.master.relax()
        if after.status == OPTIMAL:
            bounding.proved(after.bound)
        return bounding.bound - before > PARTS.gained * (best[1] - before)

    def _grow(self, trees: list[PartTree], made: Relaxed, patience: tuple[float, float]) -> None:
        """Node by node, where most is left to be proven, until it is enough or leads nowhere."""
        bounding = self.bounding
        at = np.array([float(tree.price @ made.x) for tree in trees])
        risen, since = 0.0, self.deadline.elapsed
        while not self.deadline.expired:
            gained = float(np.maximum([tree.least for tree in trees] - at, 0.0).sum())
            if self.enough(bounding.base + (made.bound + gained) * bounding.unit):
                return
            left = [tree for tree in trees if not tree.closed and tree.nodes < PARTS.most]
            best = self.best()
            if not left or best is None:
                return
            gap = (best[1] - bounding.base) / bounding.unit - made.bound - gained
            if sum(tree.ceiling - tree.least for tree in left) < PARTS.in_parts * gap:
                return  # it is how prices are divided that costs most of the bound
            if gained > risen + patience[0] * gap:
                risen, since = gained, self.deadline.elapsed
            elif self.deadline.elapsed - since > patience[1] * (
                self.deadline.remaining + self.deadline.elapsed - since
            ):
                self.deadline.mark_time_dependent()
                return
            tree = max(left, key=lambda tree: tree.ceiling - tree.least)
            tree.best = None
            tree.advance(PARTS.slice, self.deadline)
            self._try(tree, trees)
            self.tell()

    def _try(self, tree: PartTree, trees: list[PartTree]) -> None:
        """The best pattern with this part as the tree has it."""
        best = self.best()
        if best is None or self.deadline.expired:
            return
        x = best[0].copy()
        x[tree.columns] = (tree.x if tree.best is None else tree.best)[tree.columns]
        self.propose(x, tree.best is not None)
        if (again := self.best()) is not None and again[1] < best[1]:
            for other in trees:
                other.lower_ceiling(again[0])

    def _prices(self, made: Relaxed, parts: list[np.ndarray]) -> list[np.ndarray]:
        """Each cut's load for the part it lies in; what is left of the cost divided among the parts a class is in."""
        master = self.bounding.master
        assert made.dual is not None and made.reduced is not None
        A, y = master.matrix, np.maximum(made.dual, 0.0)
        free = master.lower < master.upper
        inside = np.zeros((len(parts), len(free)), dtype=bool)
        for k, part in enumerate(parts):
            inside[k, part] = True
        rest = made.reduced / np.maximum(inside.sum(axis=0), 1)
        out = []
        for mine in inside:
            lies = (abs(A) @ (free & ~mine).astype(float)) == 0
            price = A.T @ np.where(lies, y, 0.0) + rest
            y = np.where(lies, 0.0, y)
            out.append(np.where(mine, np.maximum(price, 0.0), 0.0))
        return out
