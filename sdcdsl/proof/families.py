"""Families of pairs: all attackers of a class against one cell, without a row for each of them.

Contributors of one kind share a view, and each knows more in the few cells it contributes to. A table that the view
allows is one that a member thinks possible, too, unless it moves one of these cells beyond what the member knows. So
each family has one pair that is listed, that of an attacker with the view and no knowledge of its own, and a table that
is claimed for this pair is claimed for every member whose box holds it as well. Who is left out by one table may be
served by another one, or has a pair of its own in the list; nobody is left out of both.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from sdcdsl.proof.exact import TOLERANCE
from sdcdsl.proof.members import NOBODY, Known, MemberKnowledge

if TYPE_CHECKING:
    from sdcdsl.proof.system import ProofPairs, ProofProblem
    from sdcdsl.proof.witness import MoveMatrix


@dataclass(frozen=True, eq=False)
class Families:
    """Every member of the class must be kept from the cell as uncertain as the levels say, without those that are left
    out (they have other levels, and pairs of their own; or nothing can be kept from them)."""

    class_of: np.ndarray  # int64 [attacker]: the class that it is a member of; -1: of none
    anyone: np.ndarray  # int64 [class]: the attacker who knows what the view says, and nothing more
    of: np.ndarray  # int64 [family]: its class
    cell: np.ndarray  # int64 [family]
    lpl: np.ndarray  # float64 [family]
    upl: np.ndarray
    without_family: np.ndarray  # int64 [left out]: of which family
    without_attacker: np.ndarray  # int64 [left out]: which member

    def __len__(self) -> int:
        return len(self.cell)

    @property
    def arrays(self) -> tuple[np.ndarray, ...]:
        stated = (self.class_of, self.anyone, self.of, self.cell, self.lpl, self.upl)
        return (*stated, self.without_family, self.without_attacker)

    @property
    def pairs(self) -> int:
        """How many pairs of member and cell they stand for."""
        members = np.bincount(self.class_of[self.class_of >= 0], minlength=len(self.anyone))
        return int(members[self.of].sum()) - len(self.without_family)

    def take(self, families: np.ndarray) -> Families:
        """These families only; ascending."""
        at = np.minimum(np.searchsorted(families, self.without_family), max(len(families) - 1, 0))
        kept = families[at] == self.without_family if len(families) else np.zeros(len(at), dtype=bool)
        of, cell, lpl, upl = (x[families] for x in (self.of, self.cell, self.lpl, self.upl))
        return Families(self.class_of, self.anyone, of, cell, lpl, upl, at[kept], self.without_attacker[kept])

    def number_of(self, pairs: ProofPairs) -> np.ndarray:
        """For each listed pair, the family that it stands for; -1: none."""
        standing_for = np.full(len(self.class_of), -1, dtype=np.int64)
        standing_for[self.anyone] = np.arange(len(self.anyone))
        return self.at(standing_for[pairs.attacker], pairs.cell)

    def at(self, number: np.ndarray, cell: np.ndarray) -> np.ndarray:
        """The families of these classes (-1: of none) and cells; -1: there is none."""
        out = np.full(len(cell), -1, dtype=np.int64)
        if not len(self):
            return out
        size = 1 + max(int(self.cell.max()), int(cell.max(initial=0)))
        key = self.of * size + self.cell
        order = np.argsort(key)
        sought = np.where(number >= 0, number * size + cell, -1)
        place = order[np.minimum(np.searchsorted(key[order], sought), len(key) - 1)]
        hit = key[place] == sought
        out[hit] = place[hit]
        return out

    def stated_by(self, pairs: ProofPairs) -> Families:
        """Those of which the list has the pair that stands for them."""
        return self.take(np.unique(self.number_of(pairs)[self.number_of(pairs) >= 0]))


class ServedMembers:
    """Whom the claims have left out so far, family by family and side by side. Only those are kept."""

    def __init__(self, problem: ProofProblem) -> None:
        families = problem.families
        assert families is not None
        self.problem, self.families = problem, families
        self.of_pair = families.number_of(problem.pairs)
        nothing = tuple(level > 0 for level in (families.lpl, families.upl))
        # [down | up][family]: the members that no claim serves; None: nobody is served.
        self.left: tuple[list[np.ndarray | None], ...] = tuple(
            [None if some else NOBODY for some in without.tolist()] for without in nothing
        )

    def extended(self, problem: ProofProblem) -> None:
        """The problem has more pairs in its list, after the others."""
        self.problem, self.of_pair = problem, self.families.number_of(problem.pairs)
        self.__dict__.pop("with_rows", None)

    @cached_property
    def knowledge(self) -> MemberKnowledge:
        known = self.problem.regions.known
        attacker = np.repeat(np.arange(len(known.start) - 1), np.diff(known.start))
        entries = Known(attacker, known.cell, known.low, known.high)
        return MemberKnowledge(entries, self.problem.system.a, self.families.class_of)

    def take(
        self, moves: MoveMatrix, witness: int, step: float, pair: np.ndarray, up: np.ndarray, far: np.ndarray
    ) -> None:
        """One claim that holds: how far its pairs get, up or down. It counts where that is far enough."""
        number = self.of_pair[pair]
        if (number < 0).all():
            return
        families = self.families
        mine = number >= 0
        pair, up, far, number = pair[mine], up[mine], far[mine], number[mine]
        need = np.where(up, families.upl[number], families.lpl[number])
        # What the whole claim may be off by, as the attacker of its pairs has it (`Witnesses.claims`).
        size = np.where(up, self.problem.levels_up[pair], self.problem.levels_down[pair])
        cells = slice(int(moves.start[witness]), int(moves.start[witness + 1]))
        for number_of_class in np.unique(families.of[number]).tolist():
            here = families.of[number] == number_of_class
            least = float(size[here].min())
            allowed = TOLERANCE * least if np.isfinite(least) else 0.0
            here &= (need > 0) & (far >= np.nextafter(need * (1 - TOLERANCE), np.inf))
            if not here.any():
                continue
            out = self.knowledge.left_out(number_of_class, moves.cell[cells], moves.move[cells], step, allowed)
            for family, way in zip(number[here].tolist(), up[here].tolist(), strict=True):
                left, at = self.left[int(way)], int(family)
                before = left[at]
                left[at] = out if before is None else np.intersect1d(before, out, assume_unique=True)

    def unserved(self) -> tuple[np.ndarray, np.ndarray]:
        """(family, attacker), ascending: members whom no claim serves on some side, and who have no pair of their own,
        of families in which anybody is served."""
        rows = [
            (family, left)
            for family in range(len(self.families))
            if len(left := self.left_of(family)) and self.reached(family)
        ]
        if not rows:
            return NOBODY, NOBODY
        family = np.repeat([f for f, _ in rows], [len(left) for _, left in rows])
        attacker = np.concatenate([left for _, left in rows])
        own = self.with_rows
        key = family * len(self.families.class_of) + attacker
        at = np.minimum(np.searchsorted(own, key), max(len(own) - 1, 0))
        fresh = own[at] != key if len(own) else np.ones(len(key), dtype=bool)
        return family[fresh], attacker[fresh]

    def pending(self, family: int, side: int) -> np.ndarray:
        """Members whom no claim serves on this side, and who have no pair of their own."""
        left = self.left[side][family]
        if left is None or not len(left):
            return NOBODY
        key = family * len(self.families.class_of) + left
        return left[~np.isin(key, self.with_rows)]

    @property
    def unlisted(self) -> int:
        """Pairs of members that have no row in the list."""
        return self.families.pairs - (len(self.with_rows) - len(self.families.without_family))

    def reached(self, family: int) -> bool:
        return self.left[0][family] is not None and self.left[1][family] is not None

    def left_of(self, family: int) -> np.ndarray:
        sides = [left for side in (0, 1) if (left := self.left[side][family]) is not None]
        return np.unique(np.concatenate(sides)) if sides else NOBODY

    @cached_property
    def with_rows(self) -> np.ndarray:
        """Members that are left out of their family, or have a pair of their own that requires as much."""
        families, pairs = self.families, self.problem.pairs
        count = len(families.class_of)
        without = families.without_family * count + families.without_attacker
        family = families.at(families.class_of[pairs.attacker], pairs.cell)
        own = np.flatnonzero(family >= 0)
        as_much = (pairs.lpl[own] >= families.lpl[family[own]]) & (pairs.upl[own] >= families.upl[family[own]])
        own = own[as_much]
        return np.unique(np.concatenate([without, family[own] * count + pairs.attacker[own]]))
