"""Cuts from parts of a table in few of its dimensions, each a small attacker's problem.

In three or more dimensions an attacker's problem is a linear program over the whole table. Relations may be left out of
it: who knows fewer of them can move further, so what is impossible then is impossible anyway. Of all relations along
one node of a hierarchy, and all those of another dimension among the same cells, a network is left, of a few dozen
cells, where a flow says in microseconds how far a cell can go. A minimum cut of it is an identity of the table like any
other. Where it is no network, and in three dimensions of more, it is a linear program of a millisecond. Levels that
small parts find far from satisfied are not asked about in larger ones.

Dimensions are named nowhere in a set of relations. They are found from rectangles: two relations are *parallel* if most
cells of each are in a relation with a cell of the other. Parallel relations belong to one node of a hierarchy; nodes
whose relations have single cells in common belong to one dimension. Where a table is built otherwise, parts may say
little: that a cut is true is proved by the relations it comes from, and by nothing here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components

from sdcdsl.accelerate.cutting.attacks import Attacks, FlowAttacks, LinearAttacks
from sdcdsl.accelerate.cutting.separation import Identity, Separation, identity_of
from sdcdsl.accelerate.cutting.tuning import TUNING
from sdcdsl.numerics.flow.network import Network, as_network
from sdcdsl.numerics.null_space import RelationMatrix

PLANE = 2  # dimensions
OWN = 1e-9  # an identity that gives the class less than this of itself back is none

Over = Callable[[], bool]


@dataclass(eq=False)
class Subtable:
    rank: int  # how many dimensions
    cells: np.ndarray
    relations: Network | RelationMatrix

    @cached_property
    def attacks(self) -> Attacks:
        relations = self.relations
        return FlowAttacks(relations, fast=True) if isinstance(relations, Network) else LinearAttacks(relations)


@dataclass(frozen=True, eq=False)
class Asked:
    level: int
    part: int
    place: int  # of the cell in it


class Subtables:
    """Those of a table that hold a cell with a level, and which levels each of them speaks of."""

    def __init__(self, separation: Separation, over: Over = lambda: False):
        self.separation = separation
        self.parts: list[Subtable] = []
        self.asked: list[Asked] = []  # by viewer, in each level by level, smaller parts first
        classes, instance = separation.demands.classes, separation.demands.instance
        levels, count = separation.levels, separation.requirements
        if classes.network is not None or instance.n > TUNING.most_in_parts or not count:
            return
        self._cell = instance.pair_cell[levels.pair[:count]]
        self._sign = levels.sign[:count] * classes.factor[self._cell]
        by_cell: dict[int, list[int]] = {}
        for s, cell in enumerate(self._cell.tolist()):
            by_cell.setdefault(cell, []).append(s)
        free = classes.of >= 0
        M = csr_array(instance.M)
        programs = 0
        for rank, lines in slices(M, over):
            if over() or programs > TUNING.most_programs:
                break
            if (part := _subtable(M, rank, lines, free, self._cell)) is None:
                continue
            programs += isinstance(part.relations, RelationMatrix)
            places = np.flatnonzero(np.isin(part.cells, self._cell)).tolist()
            self.asked += [Asked(s, len(self.parts), at) for at in places for s in by_cell[int(part.cells[at])]]
            self.parts.append(part)
        self.asked.sort(key=lambda one: (levels.viewer[one.level], one.level, self.parts[one.part].rank, one.part))

    def identities(self, x: np.ndarray, tolerance: float, over: Over) -> Iterator[Identity]:
        """What falls short at the shares x of the classes."""
        separation, demands = self.separation, self.separation.demands
        classes = demands.classes
        share = np.where(classes.of >= 0, x[np.maximum(classes.of, 0)], 0.0)
        last, low, high = -1, share, share
        level, far = -1, (0, 0.0)  # the level asked about, and how far from it parts of some rank were
        for one in self.asked:
            if over():
                return
            part = self.parts[one.part]
            if one.level != level:
                level, far = one.level, (part.rank, 0.0)
            elif part.rank > far[0]:
                if far[1] > TUNING.far:
                    continue
                far = part.rank, far[1]
            _, _, viewer, need = separation.target(level)
            if viewer != last:
                last, slack = viewer, classes.to_cells(*demands.slack(viewer))
                with np.errstate(invalid="ignore"):
                    low, high = (np.where(share > 0, side * share, 0.0) for side in slack)
            clip = need * share[part.cells]
            down, up = np.minimum(low[part.cells], clip), np.minimum(high[part.cells], clip)
            answer = part.attacks.ask(one.place, int(self._sign[level]), need, down, up)
            if answer.reached >= need * (1 - tolerance) or answer.cells is None or answer.coefficients is None:
                continue
            far = part.rank, max(far[1], 1 - answer.reached / need)
            if (found := self._of_classes(level, part.cells[answer.cells], answer.coefficients)) is not None:
                yield found

    def _of_classes(self, s: int, cells: np.ndarray, c: np.ndarray) -> Identity | None:
        """The identity in terms of classes; None if it says no more than that the class is itself."""
        p, sign, viewer, need = self.separation.target(s)
        classes = self.separation.demands.classes
        at, place = np.unique(classes.of[cells], return_inverse=True)
        total = np.bincount(place, weights=c * classes.factor[cells], minlength=len(at))
        own = float(total[at == p].sum()) * sign
        rest = (at != p) & (total != 0)
        return identity_of(s, viewer, need, at[rest], total[rest] / (1 - own)) if own < 1 - OWN else None


def _subtable(M: csr_array, rank: int, lines: np.ndarray, free: np.ndarray, wanted: np.ndarray) -> Subtable | None:
    """None if no wanted cell is in it, or it is no network and too large for programs."""
    some = csr_array(M[lines])
    if not np.isin(wanted, some.indices).any():
        return None
    row = np.repeat(np.arange(len(lines)), np.diff(some.indptr))
    there = free[some.indices]
    row, value = row[there], some.data[there]
    cells, place = np.unique(some.indices[there], return_inverse=True)
    order = np.lexsort((row, place))
    made = as_network(value[order], place[order], row[order], len(cells), len(lines)) if rank == PLANE else None
    if made is None:
        if len(cells) > TUNING.most_by_programs:
            return None
        made = RelationMatrix.of(csr_array((value, (row, place)), shape=(len(lines), len(cells))))
    return Subtable(rank, cells.astype(np.int64), made)


# ---- what belongs together -----------------------------------------------------------------------------------------


def slices(M: csr_array, over: Over = lambda: False) -> Iterator[tuple[int, np.ndarray]]:
    """Relations of one part each, and in how many dimensions it is: those along one node, and those of one more
    dimension among their cells; then all of several dimensions, where there are more."""
    A = _there(M)
    node = _parallel(A, over)
    lines = np.flatnonzero(node >= 0)
    if not len(lines):
        return
    dimension = _dimensions(A, node, lines)[node[lines]]
    seen: set[bytes] = set()
    for one, many in _choices(A, node[lines], lines, dimension):
        if over():
            return
        for part in _connected(A, many):
            if len(part) > 1 and part.tobytes() not in seen:  # two dimensions of one node each give the same twice
                seen.add(part.tobytes())
                yield one, part


def _choices(
    A: csr_array, node: np.ndarray, lines: np.ndarray, dimension: np.ndarray
) -> Iterator[tuple[int, np.ndarray]]:
    length = np.asarray(A.sum(axis=1)).ravel()[lines]
    for one in range(int(node.max()) + 1):
        mine = node == one
        inside = np.zeros(A.shape[1])
        inside[A[lines[mine]].indices] = 1.0
        within = ((A @ inside)[lines] == length) & (dimension != dimension[mine][0])
        for other in np.unique(dimension[within]):
            yield PLANE, lines[mine | (within & (dimension == other))]
    sizes = np.bincount(dimension)
    large = np.flatnonzero(sizes >= TUNING.share_of_lines * len(lines)).tolist()
    for rank in range(PLANE + 1, min(len(large) - 1, TUNING.most_dimensions) + 1):
        for some in combinations(large, rank):
            yield rank, lines[np.isin(dimension, some)]


def _connected(A: csr_array, lines: np.ndarray) -> list[np.ndarray]:
    _, of = connected_components(A[lines] @ A[lines].T, directed=False)
    return np.split(lines[np.argsort(of, kind="stable")], np.cumsum(np.bincount(of))[:-1])


def _there(M: csr_array) -> csr_array:
    return csr_array((np.ones(len(M.data)), M.indices, M.indptr), shape=M.shape)


def _parallel(A: csr_array, over: Over) -> np.ndarray:
    """For each relation the number of its node; -1 where it has no parallel."""
    rows = A.shape[0]
    columns, length = csr_array(A.T), A.sum(axis=1)
    meet = csr_array(A @ columns)
    found = []
    for begin in range(0, rows, TUNING.lines_at_once):
        if over():
            break
        some = np.arange(begin, min(begin + TUNING.lines_at_once, rows))
        cells = np.unique(A[some].indices)
        linked = _there(csr_array(columns[cells] @ meet))  # by a third relation to a cell of theirs
        pairs = (csr_array(A[some][:, cells]) @ linked).tocoo()
        r, t = some[pairs.row], pairs.col.astype(np.int64)
        near = (pairs.data >= 2) & (pairs.data >= TUNING.parallel * length[r]) & (r != t)
        found.append(np.stack([r[near], t[near]]))
    r, t = np.concatenate(found, axis=1) if found else np.zeros((2, 0), dtype=np.int64)
    key = r * rows + t
    both = np.isin(t * rows + r, key)
    r, t = r[both], t[both]
    apart = np.asarray(meet[r, t]).ravel() == 0 if len(r) else np.zeros(0, dtype=bool)
    graph = coo_array((np.ones(apart.sum()), (r[apart], t[apart])), shape=(rows, rows))
    _, of = connected_components(graph, directed=False)
    several = np.bincount(of) > 1
    return np.where(several, np.cumsum(several) - 1, -1)[of]


def _dimensions(A: csr_array, node: np.ndarray, lines: np.ndarray) -> np.ndarray:
    """For each node the number of its dimension. Relations of different dimensions have, somewhere in the table, cells
    side by side: one meets several relations of the other node."""
    nodes = int(node.max()) + 1
    of = csr_array((np.ones(len(lines)), (np.arange(len(lines)), node[lines])), shape=(len(lines), nodes))
    on = _there(csr_array(A[lines].T @ of))  # whether a cell is in a relation of the node
    most = np.zeros((nodes, nodes))
    np.maximum.at(most, node[lines], (A[lines] @ on).toarray())
    most = np.maximum(most, most.T)
    np.fill_diagonal(most, 0.0)
    return connected_components(csr_array(most == 1), directed=False)[1]
