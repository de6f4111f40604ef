"""Contributors as attackers in a search: rows only for those whom a pattern leaves too little.

Where contributors attack in great number, the list of pairs has one for all members of a class against a cell, and
those with levels of their own (`proof.families`). The witnesses of a pattern serve all members whose own knowledge does
not exclude them; which members are left out by all of its witnesses is arithmetic over few numbers. They get rows, the
pattern is completed for them, and so on until nobody is left out. A member whom a pattern could serve by a witness that
the search does not have gets a row all the same: it costs nothing but that witness.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sdcdsl.accelerate.csp.box_search import adds_up
from sdcdsl.accelerate.csp.box_state import Move
from sdcdsl.accelerate.csp.heuristics import Found, SuppressionHeuristic
from sdcdsl.accelerate.csp.tuning import LOCAL
from sdcdsl.bind.problem import TableProblem
from sdcdsl.deadline import Deadline
from sdcdsl.methods.instance import DOWN, UP, Instance
from sdcdsl.proof.families import Families
from sdcdsl.proof.members import SURELY, Known, MemberKnowledge
from sdcdsl.proof.system import spans
from sdcdsl.proof.witness import MoveMatrix

ENOUGH = 1 + 4e-13  # beyond the level, as the audit asks for


class LazyMembers:
    """A finder whose patterns leave no member of a family too little, as far as it has witnesses at all."""

    def __init__(self, finder: SuppressionHeuristic, problem: TableProblem, deadline: Deadline):
        assert problem.families is not None
        self.finder, self.deadline = finder, deadline
        self.problem, self.left_out = problem, LeftOut(problem, problem.families)
        self._whole: Found | None = None  # the cheapest pattern that leaves nobody out,
        self._moves: list[Move] = []  # and its witnesses
        self.instance = Instance(problem)  # with all rows so far: what it requires, every release must give

    @property
    def gaining(self) -> bool:
        return self.finder.gaining

    @property
    def bounded(self) -> bool:
        return self.finder.bounded

    @property
    def tells_no_sums(self) -> bool:
        return False  # nobody looked at the members of their families

    def first(self, hidden: np.ndarray | None = None, moves: Sequence[Move] = ()) -> Found | None:
        return self._for_everybody(self.finder.first(hidden, moves))

    def better(self, deadline: Deadline) -> Found | None:
        return self._for_everybody(self.finder.better(deadline))

    def complete(self, hidden: np.ndarray, price: np.ndarray | None = None) -> Found | None:
        return self._for_everybody(self.finder.complete(hidden, price))

    def require(self, instance: Instance) -> Found | None:
        return self._for_everybody(self.finder.require(instance))

    def proves(self, hidden: np.ndarray) -> bool:
        if self._whole is not None and np.array_equal(self._whole[0], hidden):
            return adds_up(self.instance.M, self._moves)
        return self.finder.proves(hidden)

    def known_moves(self) -> list[Move]:
        """Of the cheapest pattern that leaves nobody out."""
        return self._moves if self._whole is not None else self.finder.known_moves()

    def _for_everybody(self, found: Found | None) -> Found | None:
        """The pattern, completed. One that could not be, be it for lack of time, is better than none: the audit says
        who is left out, and it is mended for them."""
        for _ in range(LOCAL.member_rounds):
            moves = [] if found is None else self.finder.known_moves()
            if found is None or not moves:
                return found
            family, attacker = self.left_out.by(MoveMatrix.sorted(moves, self.problem.n))
            if not len(family):
                if self._whole is None or found[1] <= self._whole[1]:
                    self._whole, self._moves = found, moves
                return found
            wider = None
            if not self.deadline.expired:
                self.problem = self.problem.with_listed(family, attacker)
                self.left_out.listed(family, attacker)
                self.instance = Instance(self.problem)
                wider = self.finder.require(self.instance)
            if wider is None:
                break
            found = wider
        return found if self._whole is None else self._whole


class LeftOut:
    """Who is left out by all witnesses that take the cell of its family far enough."""

    def __init__(self, problem: TableProblem, families: Families):
        d = problem.dataset
        self.families, self.a = families, d["a"].values
        columns = (d[f"known_{name}"].values for name in ("attacker", "cell", "low", "high"))
        attacker, cell, low, high = columns
        self.knowledge = MemberKnowledge(
            Known(attacker.astype(np.int64), cell.astype(np.int64), low, high), self.a, families.class_of
        )
        views = d["view_of"].values[families.anyone]
        self.l = np.minimum(d["low"].values[views] - self.a, 0.0)  # [class, cell]
        self.u = np.maximum(d["high"].values[views] - self.a, 0.0)
        self._count = len(families.class_of)
        self._own = families.without_family * self._count + families.without_attacker
        cells, who = d["cell_at"].values.astype(np.int64), d["attacker_at"].values.astype(np.int64)
        self._take_listed(cells, who, d["lpl"].values, d["upl"].values)

    def _take_listed(self, cells: np.ndarray, who: np.ndarray, lpl: np.ndarray, upl: np.ndarray) -> None:
        families = self.families
        family = families.at(families.class_of[who], cells)
        own = np.flatnonzero(family >= 0)
        own = own[(lpl[own] >= families.lpl[family[own]]) & (upl[own] >= families.upl[family[own]])]
        self.listed(family[own], who[own])

    def listed(self, family: np.ndarray, attacker: np.ndarray) -> None:
        """These have rows of their own."""
        self._own = np.unique(np.concatenate([self._own, family * self._count + attacker]))

    def by(self, moves: MoveMatrix) -> tuple[np.ndarray, np.ndarray]:
        """(family, attacker) without a row, ascending; of families that one of these moves serves on each side."""
        out = [self._on_one_side(moves, side) for side in (DOWN, UP)]
        key = np.unique(np.concatenate(out))
        key = key[~np.isin(key, self._own, assume_unique=True)]
        return np.divmod(key, self._count)

    def _on_one_side(self, moves: MoveMatrix, side: int) -> np.ndarray:
        families = self.families
        level = families.upl if side == UP else families.lpl
        some = np.flatnonzero(level > 0)
        by_cell = np.argsort(moves.cell, kind="stable")
        start = np.searchsorted(moves.cell[by_cell], np.arange(moves.cells + 1))
        cell = families.cell[some]
        count = start[cell + 1] - start[cell]
        family, entry = np.repeat(some, count), by_cell[spans(start[cell], count)]
        move, far = moves.owner[entry], moves.move[entry]
        way = ((far > 0) == (side == UP)).astype(np.int64)
        times = level[family] * ENOUGH / np.abs(far)
        lengths = np.stack([moves.fitting(l, u) for l, u in zip(self.l, self.u, strict=True)])
        fits = times <= lengths[families.of[family], way, move] / SURELY
        family, move, times = family[fits], move[fits], np.where(way > 0, times, -times)[fits]
        width = moves.count[move]
        table, at = np.repeat(np.arange(len(move)), width), spans(moves.start[move], width)
        owner, who = self.knowledge.left_out_of_each(
            families.of[family], table, moves.cell[at], moves.move[at] * times[table]
        )
        served = np.bincount(family, minlength=len(families))
        key, often = np.unique(family[owner] * self._count + who, return_counts=True)
        return key[often == served[key // self._count]]
