"""Patterns of boxes that tell no sensitive sum of hidden cells.

A relation tells the sum of its hidden parts, and a rule may call that sum sensitive although no part is
(`bind.aggregates`). Which sums these are follows from what is hidden: there are as many as cells, and nearly all of
them are as wide as they have to be. Boxes within what is hidden already show that, and are kept as witnesses for the
audit. The others are required of the search from then on, for as long as their members are all hidden.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sdcdsl.accelerate.csp.box_search import BoxSearch
from sdcdsl.accelerate.csp.box_state import Move, PackedMoves, packed
from sdcdsl.accelerate.csp.product_table import ProductTable
from sdcdsl.accelerate.csp.tuning import BOXES
from sdcdsl.bind.problem import TableProblem
from sdcdsl.bind.unions import Unions
from sdcdsl.deadline import Deadline
from sdcdsl.methods.instance import Instance

MIXED = 2**63 - 1  # numbers that stand for cells in `_fingerprints`
OthersServed = Callable[[BoxSearch, Deadline], bool]


class BoxSums:
    """`others` serves requirements that boxes cannot."""

    def __init__(self, instance: Instance, w: np.ndarray, seed: int, others: OthersServed):
        self.problem, self._w, self._seed, self._others = instance.problem, w, seed, others
        self._published = instance.problem.dataset["published"].values
        self._required = np.zeros(0, dtype=np.uint64)  # of those required of the search

    def protected(self, search: BoxSearch, deadline: Deadline) -> tuple[BoxSearch, list[Move]] | None:
        """A search whose pattern tells no sensitive sum, and witnesses of the sums that take nothing more; None if that
        takes too long, or a sum cannot be protected."""
        sums = self.problem.sums
        if sums is None:
            return search, []
        shown: list[Move] = []
        for attempt in range(BOXES.mended):
            more = sums.beyond(search.hidden[: self.problem.n] & self._published)
            required = np.isin(_fingerprints(more), self._required)
            probe, known = self._on(more, search), len(search.packed()[0]) - 1
            probe.take(packed([one for one in shown if search.hidden[one[0]].all()], search.table.size))
            if not probe.complete_within(deadline):
                return None
            narrow = np.zeros(len(more), dtype=bool)
            narrow[probe.requirements.cell[probe.uncertified] - self.problem.n] = True
            given_up = required.sum() < len(self._required)  # members of one are published again
            shown = self.of_table(probe.moves()[known:])
            if not narrow.any() and not (given_up and attempt == 0):
                return search, shown
            self._required = _fingerprints(more)[narrow | required]
            search = self._on(more.take(narrow | required), search)
            if not search.complete(deadline) and not self._others(search, deadline):
                return None
            if attempt < BOXES.mended_pruned:  # from then on patterns only grow, so that it ends
                search.prune()
        return None

    def of_table(self, moves: list[Move]) -> list[Move]:
        """Without the sums that the search was given on the way."""
        n = self.problem.n
        return [(cells[cells < n], d[cells < n]) for cells, d in moves]

    def searching(self, moves: PackedMoves) -> BoxSearch:
        """From a pattern of the table itself."""
        return self._made(self.problem, moves)

    def _on(self, more: Unions, search: BoxSearch) -> BoxSearch:
        """The pattern of a search, of the problem with these sums."""
        assert self.problem.sums is not None
        problem = self.problem.sums.extended(more).listing_as(self.problem) if len(more) else self.problem
        return self._made(problem, search.packed())

    def _made(self, problem: TableProblem, moves: PackedMoves) -> BoxSearch:
        instance = Instance(problem)
        table = ProductTable.of(instance)
        assert table is not None
        self._seed += 1
        w = np.append(self._w, np.zeros(problem.n - len(self._w)))
        made = BoxSearch(instance, table, instance.requirements, w, self._seed)
        made.take(moves)
        return made


def _fingerprints(unions: Unions) -> np.ndarray:
    """A number for each that tells it from others by its members and their signs."""
    cells = int(unions.cell_of.max(initial=-1)) + 1
    mixed = np.random.default_rng(0).integers(1, MIXED, cells, dtype=np.uint64)
    out = np.zeros(len(unions), dtype=np.uint64)
    with np.errstate(over="ignore"):
        signed = np.where(unions.coefficient > 0, mixed[unions.cell_of], ~mixed[unions.cell_of])
        np.add.at(out, unions.union_of, signed)
    return out
