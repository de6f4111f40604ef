"""How the codes of one dimension are composed of each other: the additive relations of all its trees, each once.

Vocabulary. A *row* is one relation `parent = Σ sign · child` of one tree. The first row met for a code, in the order of
the trees, *defines* it; a code no row defines is a *leaf*, the kind of code a record carries. Later rows for a code
(the second tree's way to sum up to the same total) are additional facts: `agrees` says whether they follow from the
definitions, that is, whether both sides expand to the same signed set of leaves.

A row is not taken as a definition when that would go in a circle (one tree says T = A + B, another A = T - B): A then
stays a leaf and the second row is an additional fact.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sdcdsl.bind.hierarchy import CodeTree, DimensionCodes


@dataclass(frozen=True, eq=False)
class RollUpStep:
    """One step up a tree: every code moves to `move[code]` (itself, if it stays), contributions change by `sign`.

    `reached` are the codes that this round arrives at *and* this tree defines; `first` starts a tree from the leaves
    again, where -1 in `move` means that the tree does not cover the leaf.
    """

    move: np.ndarray  # int64 [code]
    sign: np.ndarray  # float64 [code]
    reached: np.ndarray  # bool [code]
    first: bool = False


@dataclass(frozen=True, eq=False)
class Composition:
    """Rows in tree order, their children as parallel arrays sorted by row."""

    dimension: DimensionCodes
    parent: np.ndarray  # int64 [row]
    tree: np.ndarray  # int64 [row]
    defines: np.ndarray  # bool [row]
    row_of: np.ndarray  # int64 [entry], ascending
    child: np.ndarray  # int64 [entry]
    sign: np.ndarray  # float64 [entry]

    @property
    def size(self) -> int:
        return len(self.dimension.codes)

    @cached_property
    def is_leaf(self) -> np.ndarray:
        leaf = np.ones(self.size, dtype=bool)
        leaf[self.parent[self.defines]] = False
        return leaf

    @cached_property
    def first_entry(self) -> np.ndarray:
        """Where each row's children start, with the end appended."""
        return np.searchsorted(self.row_of, np.arange(len(self.parent) + 1))

    def children(self, row: int) -> slice:
        return slice(int(self.first_entry[row]), int(self.first_entry[row + 1]))

    @cached_property
    def height(self) -> np.ndarray:
        """0 for a leaf, otherwise one more than the highest code in the definition."""
        height = np.zeros(self.size, dtype=np.int64)
        for row in _bottom_up(self):
            height[self.parent[row]] = 1 + height[self.child[self.children(row)]].max()
        return height

    @cached_property
    def steps(self) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """The definitions as vectorised steps (parents, children, signs), in an order in which children are complete.

        No parent occurs twice in a step, so `x[parents] += sign * x[children]` is safe.
        """
        rows = np.flatnonzero(self.defines)
        inside = self.defines[self.row_of]
        row, child, sign = self.row_of[inside], self.child[inside], self.sign[inside]
        if not len(rows):
            return []
        slot = np.arange(len(row)) - np.searchsorted(row, row)
        when = self.height[self.parent[row]]
        order = np.lexsort((slot, when))
        cuts = 1 + np.flatnonzero((np.diff(when[order]) != 0) | (np.diff(slot[order]) != 0))
        return [(self.parent[row[part]], child[part], sign[part]) for part in np.split(order, cuts)]

    @cached_property
    def leaves_of(self) -> list[dict[int, float]]:
        """The signed leaves of every code. Python objects: used for cross-checks between trees, not in kernels."""
        leaves: list[dict[int, float]] = [{code: 1.0} for code in range(self.size)]
        for row in _bottom_up(self):
            leaves[self.parent[row]] = self._expanded(row, leaves)
        return leaves

    def expanded(self, row: int) -> dict[int, float]:
        """The signed leaves of a row's right-hand side."""
        return self._expanded(row, self.leaves_of)

    def _expanded(self, row: int, leaves: list[dict[int, float]]) -> dict[int, float]:
        total: dict[int, float] = {}
        part = self.children(row)
        for code, sign in zip(self.child[part], self.sign[part], strict=True):
            for leaf, coefficient in leaves[code].items():
                total[leaf] = total.get(leaf, 0.0) + sign * coefficient
        return {leaf: coefficient for leaf, coefficient in total.items() if coefficient}

    @cached_property
    def agrees(self) -> np.ndarray:
        """Which rows hold for all leaf values: the definitions, and the additional rows that follow from them."""
        agrees = self.defines.copy()
        for row in np.flatnonzero(~self.defines):
            agrees[row] = self.expanded(int(row)) == self.leaves_of[self.parent[row]]
        return agrees

    @cached_property
    def overlapping(self) -> np.ndarray:
        """Codes that contain some leaf more than once, so that no record has one place below them."""
        bad = np.zeros(self.size, dtype=bool)
        if len(self.dimension.trees) > 1:
            bad[[i for i, leaves in enumerate(self.leaves_of) if any(abs(c) != 1.0 for c in leaves.values())]] = True
        return bad

    @cached_property
    def rounds(self) -> list[RollUpStep]:
        """All the ways up, tree by tree, from the deepest level to the root; the leaves themselves are not a round."""
        return [step for number, tree in enumerate(self.dimension.trees) for step in self._roll_up(number, tree)]

    def _roll_up(self, number: int, tree: CodeTree) -> Iterator[RollUpStep]:
        index = self.dimension.index
        codes = np.array([index[code] for code in tree.codes], dtype=np.int64)
        own = np.zeros(self.size, dtype=bool)
        own[self.parent[self.defines & (self.tree == number)]] = True
        if not own.any():
            return
        yield self._start(codes[tree.is_leaf])
        for depth in range(int(tree.level.max()), 1, -1):
            here = np.flatnonzero(tree.level == depth)
            move, sign = np.arange(self.size), np.ones(self.size)
            move[codes[here]] = codes[tree.parent[here]]
            sign[codes[here]] = tree.sign[here]
            reached = np.zeros(self.size, dtype=bool)
            reached[codes[tree.parent[here]]] = True
            yield RollUpStep(move, sign, reached & own)

    def _start(self, bottom: np.ndarray) -> RollUpStep:
        """Each leaf of the dimension to the code at the bottom of a tree that contains it."""
        move, sign = np.full(self.size, -1), np.ones(self.size)
        plain = bottom[self.is_leaf[bottom]]
        move[plain] = plain
        for code in bottom[~self.is_leaf[bottom]]:
            for leaf, coefficient in self.leaves_of[code].items():
                move[leaf], sign[leaf] = code, coefficient
        return RollUpStep(move, sign, np.zeros(self.size, dtype=bool), first=True)


def _bottom_up(composition: Composition) -> list[int]:
    """Defining rows so ordered that every child is complete before its parent."""
    defining = {int(composition.parent[r]): int(r) for r in np.flatnonzero(composition.defines)}
    order: list[int] = []
    seen: set[int] = set()
    stack = list(defining)[::-1]
    while stack:
        code = stack[-1]
        children = composition.child[composition.children(defining[code])].tolist()
        pending = [c for c in children if c in defining and c not in seen]
        if code not in seen and pending:
            stack.extend(pending)
            continue
        stack.pop()
        if code not in seen:
            seen.add(code)
            order.append(defining[code])
    return order


def compose(dimension: DimensionCodes) -> Composition:
    """The relations of all trees of a dimension; a relation that two trees share is kept once."""
    index = dimension.index
    children_of: dict[int, tuple[int, ...]] = {}
    known: set[tuple[int, frozenset[tuple[int, int]]]] = set()
    rows: list[tuple[int, int, bool, list[tuple[int, int]]]] = []
    for number, tree in enumerate(dimension.trees):
        below: dict[int, list[tuple[int, int]]] = {}
        for code, parent, sign in zip(tree.codes, tree.parent.tolist(), tree.sign.tolist(), strict=True):
            if parent >= 0:
                below.setdefault(index[tree.codes[parent]], []).append((index[code], sign))
        for parent, children in below.items():
            fact = (parent, frozenset(children))
            if fact in known:
                continue
            known.add(fact)
            ids = tuple(child for child, _ in children)
            defines = parent not in children_of and not _reaches(children_of, ids, parent)
            if defines:
                children_of[parent] = ids
            rows.append((parent, number, defines, children))
    lengths = [len(children) for *_, children in rows]
    flat = np.array([pair for *_, children in rows for pair in children], dtype=np.int64).reshape(-1, 2)
    return Composition(
        dimension,
        parent=np.array([parent for parent, *_ in rows], dtype=np.int64),
        tree=np.array([number for _, number, *_ in rows], dtype=np.int64),
        defines=np.array([defines for _, _, defines, _ in rows], dtype=bool),
        row_of=np.repeat(np.arange(len(rows)), lengths),
        child=flat[:, 0].copy(),
        sign=flat[:, 1].astype(np.float64),
    )


def _reaches(children_of: dict[int, tuple[int, ...]], start: tuple[int, ...], goal: int) -> bool:
    """Does the expansion of `start` by the definitions so far contain `goal`?"""
    stack, seen = list(start), set(start)
    while stack:
        code = stack.pop()
        if code == goal:
            return True
        for child in children_of.get(code, ()):
            if child not in seen:
                seen.add(child)
                stack.append(child)
    return False
