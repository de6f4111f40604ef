"""The true table, the relations, what attackers see, and what each of them must not find out.

All later arithmetic is centred on the truth: a table y = a + d is as possible as the true table a when M d = 0 and y
lies in the attacker's box.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sdcdsl.proof.families import Families


@dataclass(frozen=True, eq=False)
class Entries:
    """The entries of a sparse matrix in the order of one of its sides: those of line i are start[i] to start[i + 1]."""

    start: np.ndarray  # int64 [line + 1]
    other: np.ndarray  # int64 [entry]: the equation of an entry by cell, the cell of an entry by equation
    coefficient: np.ndarray  # float64 [entry]

    @cached_property
    def count(self) -> np.ndarray:
        return np.diff(self.start)

    def of(self, lines: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """For the entries of these lines: the position in `lines`, the other side's index, the coefficient."""
        count = self.count[lines]
        at = spans(self.start[lines], count)
        return np.repeat(np.arange(len(lines)), count), self.other[at], self.coefficient[at]


def entries_by(line: np.ndarray, other: np.ndarray, coefficient: np.ndarray, lines: int) -> Entries:
    start = starts(line, lines)
    if len(line) and (line[1:] < line[:-1]).any():
        # Sorting small numbers takes numpy a tenth of the time.
        order = np.argsort(line.astype(np.uint16) if lines <= 2**16 else line, kind="stable")
        other, coefficient = other[order], coefficient[order]
    return Entries(start, other, coefficient)


def starts(line: np.ndarray, lines: int) -> np.ndarray:
    out = np.zeros(lines + 1, dtype=np.int64)
    np.cumsum(np.bincount(line, minlength=lines), out=out[1:])
    return out


def spans(first: np.ndarray, count: np.ndarray) -> np.ndarray:
    """first[0], first[0] + 1, … (count[0] of them), first[1], …"""
    end = np.cumsum(count)
    total = int(end[-1]) if len(end) else 0
    return np.arange(total) + np.repeat(first - (end - count), count)


@dataclass(frozen=True, eq=False)
class System:
    """M a = b, in coordinate form."""

    a: np.ndarray  # float64 [cell]: the true values
    coefficient: np.ndarray  # float64 [entry]
    cell_of: np.ndarray  # int [entry]
    equation_of: np.ndarray  # int [entry]
    b: np.ndarray  # float64 [equation]

    @property
    def cells(self) -> int:
        return len(self.a)

    @property
    def equations(self) -> int:
        return len(self.b)

    @cached_property
    def by_cell(self) -> Entries:
        return entries_by(self.cell_of, self.equation_of, self.coefficient, self.cells)

    @cached_property
    def by_equation(self) -> Entries:
        return entries_by(self.equation_of, self.cell_of, self.coefficient, self.equations)


@dataclass(frozen=True, eq=False)
class Regions:
    """What every attacker knows: the box of its view, narrowed in the cells it knows more about."""

    low: np.ndarray  # float64 [view, cell]; -inf: open
    high: np.ndarray  # float64 [view, cell]; inf: open
    view_of: np.ndarray  # int [attacker]
    known_attacker: np.ndarray  # int [known]
    known_cell: np.ndarray  # int [known]
    known_low: np.ndarray  # float64 [known]
    known_high: np.ndarray  # float64 [known]

    @property
    def views(self) -> int:
        return len(self.low)

    @property
    def attackers(self) -> int:
        return len(self.view_of)

    @cached_property
    def known(self) -> AttackerKnowledge:
        return AttackerKnowledge.sorted(
            self.attackers, self.known_attacker, self.known_cell, self.known_low, self.known_high, self.low.shape[1]
        )

    def box(self, attacker: int, cells: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """What one attacker knows about a few cells."""
        return self.boxes(np.array([attacker]), np.array([False]), np.zeros(len(cells), dtype=np.int64), cells)

    def boxes(
        self, attackers: np.ndarray, of_view: np.ndarray, who: np.ndarray, cells: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """What attackers[who[i]] knows about cells[i]; where of_view[who[i]], only what its view says."""
        view = self.view_of[attackers[who]]
        low, high = self.low[view, cells], self.high[view, cells]
        known = self.known
        if not len(known.cell):
            return low, high
        sought = np.asarray(attackers[who] * self.low.shape[1] + cells, dtype=np.int64)
        at = np.minimum(np.searchsorted(known.key, sought), len(known.key) - 1)
        hit = (known.key[at] == sought) & ~of_view[who]
        low[hit] = np.maximum(low[hit], known.low[at[hit]])
        high[hit] = np.minimum(high[hit], known.high[at[hit]])
        return low, high


@dataclass(frozen=True, eq=False)
class AttackerKnowledge:
    """What attackers know beyond their views, by attacker and then by cell, every cell once."""

    start: np.ndarray  # int64 [attacker + 1]
    cell: np.ndarray  # int64 [known]
    low: np.ndarray
    high: np.ndarray
    key: np.ndarray  # int64 [known], ascending: attacker times the number of cells, plus the cell

    @classmethod
    def sorted(
        cls, attackers: int, who: np.ndarray, cell: np.ndarray, low: np.ndarray, high: np.ndarray, cells: int
    ) -> AttackerKnowledge:
        key = who.astype(np.int64) * max(cells, 1) + cell
        if len(key) and (key[1:] <= key[:-1]).any():
            order = np.argsort(key, kind="stable")
            key, low, high = key[order], low[order], high[order]
            first = np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]]))
            low, high, key = np.maximum.reduceat(low, first), np.minimum.reduceat(high, first), key[first]
        attacker, about = np.divmod(key, max(cells, 1))
        return cls(starts(attacker, attackers), about, low, high, key)

    def of(self, attackers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The entries of these attackers: the position in `attackers`, and the entry."""
        count = self.start[attackers + 1] - self.start[attackers]
        return np.repeat(np.arange(len(attackers)), count), spans(self.start[attackers], count)


@dataclass(frozen=True, eq=False)
class ProofPairs:
    """Who must not find out what: the attacker must be able to think that the cell lies lpl below its true value, upl
    above it, and in a range of at least spl."""

    cell: np.ndarray  # int [pair]
    attacker: np.ndarray  # int [pair]
    lpl: np.ndarray  # float64 [pair]
    upl: np.ndarray
    spl: np.ndarray

    def __len__(self) -> int:
        return len(self.cell)

    def level(self, up: bool) -> np.ndarray:
        return self.upl if up else self.lpl

    def smallest_level(self, up: bool) -> np.ndarray:
        """What a table that moves the cell this way is measured by: the least it may be needed for. inf: nothing."""
        side = self.level(up)
        return np.minimum(np.where(side > 0, side, np.inf), np.where(self.spl > 0, self.spl, np.inf))


@dataclass(frozen=True, eq=False)
class ProofProblem:
    """What there is to prove, and what is computed from it once."""

    system: System
    regions: Regions
    pairs: ProofPairs
    families: Families | None = None  # of pairs that are not listed

    @cached_property
    def levels_up(self) -> np.ndarray:
        return self.pairs.smallest_level(True)

    @cached_property
    def levels_down(self) -> np.ndarray:
        return self.pairs.smallest_level(False)

    @cached_property
    def outside(self) -> tuple[np.ndarray, np.ndarray]:
        """How far the truth itself lies outside the box of each view, rounded up, and in which cell most."""
        a, regions = self.system.a, self.regions
        if not self.system.cells:
            return np.zeros(regions.views), np.full(regions.views, -1)
        worst, most = np.empty(regions.views, dtype=np.int64), np.empty(regions.views)
        for view in range(regions.views):
            with np.errstate(over="ignore"):
                far = np.maximum(regions.low[view] - a, a - regions.high[view])
            worst[view] = far.argmax()
            most[view] = far[worst[view]]
        return np.where(most > 0, np.nextafter(most, np.inf), 0.0), worst
