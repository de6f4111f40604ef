"""Witnesses: other tables that an attacker cannot tell from the truth.

A witness is a move d with M d = 0. A claim says of some pairs that the table a + step · d lies in the boxes of their
attackers and drives their cells up or down. One witness serves many claims. Witnesses are checked many at a time: most
are small, and numpy takes as long to begin with a few numbers as to add up a thousand.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from sdcdsl.proof.exact import TOLERANCE, excess, outside, products_down, round_up, rounded_sums, sums
from sdcdsl.proof.system import ProofProblem, System, spans

AT_ONCE = 2**18  # numbers of tables that are compared with boxes at a time


@dataclass(frozen=True, eq=False)
class Witness:
    cells: np.ndarray  # int64, ascending
    move: np.ndarray  # float64, whole numbers wherever possible


@dataclass(frozen=True, eq=False)
class Claim:
    witness: int
    step: float  # negative: the move in reverse
    up: np.ndarray  # int: pairs whose cell the table moves up
    down: np.ndarray


@dataclass(frozen=True, eq=False)
class Residuals:
    """How far M · move of each witness is from zero: `largest` is not below the truth, and 0 exactly if all relations
    hold."""

    largest: np.ndarray  # float64 [witness]
    equation: np.ndarray  # int64 [witness]: where; -1 if nowhere


@dataclass(frozen=True, eq=False)
class ReachedLevels:
    """What claims come to, pair by pair. Of claims with `reasons`, nothing is to be believed."""

    claim: np.ndarray  # int64 [entry]: its number
    pair: np.ndarray  # int64 [entry]
    up: np.ndarray  # bool [entry]
    far: np.ndarray  # float64 [entry]: how far, rounded down
    tolerance: np.ndarray  # float64 [claim]: the largest share of a level that was used; 0: it holds exactly
    reasons: dict[int, list[str]]  # by the number of the claim

    def of(self, claim: int) -> ReachedLevels:
        """What one of them comes to, which has number 0 then."""
        mine = slice(*np.searchsorted(self.claim, [claim, claim + 1]).tolist())
        reasons = {0: self.reasons[claim]} if claim in self.reasons else {}
        pair, up, far = self.pair[mine], self.up[mine], self.far[mine]
        return ReachedLevels(self.claim[mine] - claim, pair, up, far, self.tolerance[claim : claim + 1], reasons)


@dataclass(frozen=True, eq=False)
class MoveMatrix:
    """Witnesses one behind the other."""

    start: np.ndarray  # int64 [witness + 1]
    cell: np.ndarray  # int64 [entry]
    move: np.ndarray  # float64 [entry]
    cells: int  # of the table

    @classmethod
    def of(cls, witnesses: Sequence[Witness], cells: int) -> MoveMatrix:
        start = np.cumsum([0, *(len(w.cells) for w in witnesses)])
        if len(witnesses) == 1:
            return cls(start, witnesses[0].cells, witnesses[0].move, cells)
        return cls(
            start, np.concatenate([w.cells for w in witnesses]), np.concatenate([w.move for w in witnesses]), cells
        )

    @classmethod
    def sorted(cls, moves: Sequence[tuple[np.ndarray, np.ndarray]], cells: int) -> MoveMatrix:
        """Of moves with their cells in any order."""
        count = np.array([len(cell) for cell, _ in moves], dtype=np.int64)
        nothing = [np.zeros(0)]
        cell = np.concatenate([*(cell for cell, _ in moves), *nothing]).astype(np.int64)
        order = np.argsort(np.repeat(np.arange(len(moves)), count) * cells + cell, kind="stable")
        move = np.concatenate([*(d for _, d in moves), *nothing])
        return cls(np.append(0, np.cumsum(count)), cell[order], move[order], cells)

    def __len__(self) -> int:
        return len(self.start) - 1

    @cached_property
    def count(self) -> np.ndarray:
        return np.diff(self.start)

    @cached_property
    def owner(self) -> np.ndarray:
        return np.repeat(np.arange(len(self)), self.count)

    @cached_property
    def whole(self) -> np.ndarray:
        """Of which witnesses all numbers are whole."""
        broken = np.rint(self.move) != self.move
        if len(self) == 1:
            return np.array([not broken.any()])
        return np.bincount(self.owner[broken], minlength=len(self)) == 0

    @cached_property
    def _key(self) -> np.ndarray:
        return self.owner * self.cells + self.cell

    def only(self, witnesses: np.ndarray) -> MoveMatrix:
        if len(witnesses) == len(self):
            return self
        at = spans(self.start[witnesses], self.count[witnesses])
        return MoveMatrix(np.cumsum([0, *self.count[witnesses]]), self.cell[at], self.move[at], self.cells)

    def within(self, cells: np.ndarray) -> MoveMatrix:
        """Those that move no others than these cells, a mask."""
        beyond = np.bincount(self.owner[~cells[self.cell]], minlength=len(self))
        return self.only(np.flatnonzero(beyond == 0))

    def fitting(self, l: np.ndarray, u: np.ndarray) -> np.ndarray:
        """[back | forth, witness]: the largest step within l ≤ step · move ≤ u."""
        out = np.full((2, len(self)), np.inf)
        forth, size = self.move > 0, np.abs(self.move)
        up, down = u[self.cell], -l[self.cell]
        for way, slack in ((1, np.where(forth, up, down)), (0, np.where(forth, down, up))):
            np.minimum.at(out[way], self.owner, slack / size)
        out[:, self.count == 0] = 0.0
        return out

    def at(self, owner: np.ndarray, cell: np.ndarray) -> np.ndarray:
        """By how much these witnesses move these cells."""
        if not len(self.cell):
            return np.zeros(len(cell))
        sought = owner * self.cells + cell
        at = np.minimum(np.searchsorted(self._key, sought), len(self._key) - 1)
        return np.where(self._key[at] == sought, self.move[at], 0.0)


def residuals(system: System, moves: MoveMatrix) -> Residuals:
    """Whole moves together. Others each by itself: whether their sums are exact depends on all numbers in them."""
    largest, equation = np.zeros(len(moves)), np.full(len(moves), -1)
    whole = np.flatnonzero(moves.whole)
    for chosen in ([whole] if len(whole) else []) + list(np.flatnonzero(~moves.whole)[:, None]):
        if system.equations:
            largest[chosen], equation[chosen] = _residuals(system, moves.only(chosen), bool(moves.whole[chosen[0]]))
    equation[largest == 0] = -1
    return Residuals(largest, equation)


def _residuals(system: System, moves: MoveMatrix, whole: bool) -> tuple[np.ndarray, np.ndarray]:
    """Of broken moves nobody expects that relations hold exactly: a bound will do."""
    m = system.equations
    key, coefficient, amount = _products(system, moves)
    if not len(key):
        return np.zeros(len(moves)), np.zeros(len(moves), dtype=np.int64)
    if 8 * len(key) < len(moves) * m:
        keys, key = np.unique(key, return_inverse=True)
    else:
        keys = np.arange(len(moves) * m)  # relations of one witness behind those of another
    value, error = sums(coefficient, amount, key, len(keys))
    size = np.abs(value) + error
    left = (error > 0) & ~(np.abs(value) > error)
    if whole and left.any():
        mine = left[key]
        number = np.cumsum(left) - 1
        size[left] = rounded_sums(coefficient[mine], amount[mine], number[key[mine]], int(left.sum()), _size)
    first = np.searchsorted(keys, np.arange(len(moves) + 1) * m)
    largest, equation = np.zeros(len(moves)), np.zeros(len(moves), dtype=np.int64)
    for i in range(len(moves)):
        if first[i] < first[i + 1]:
            worst = first[i] + int(size[first[i] : first[i + 1]].argmax())
            largest[i], equation[i] = size[worst], keys[worst] - i * m
    return largest, equation


def _size(x: Fraction) -> float:
    return round_up(abs(x))


def _products(system: System, moves: MoveMatrix) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The terms of M · move: which relation of which witness, the coefficient, and the number it is multiplied by."""
    if len(moves) == 1 and 2 * len(moves.cell) > system.cells:  # no need to look for the entries of so many cells
        everywhere = np.zeros(system.cells)
        everywhere[moves.cell] = moves.move
        return system.equation_of, system.coefficient, everywhere[system.cell_of]
    at, equation, coefficient = system.by_cell.of(moves.cell)
    return moves.owner[at] * system.equations + equation, coefficient, moves.move[at]


def residual(system: System, witness: Witness) -> Residuals:
    return residuals(system, MoveMatrix.of([witness], system.cells))


class Witnesses:
    """Some witnesses, whose relations are checked once, for whatever is claimed by them."""

    def __init__(self, problem: ProofProblem, witnesses: Sequence[Witness]) -> None:
        self.problem = problem
        self.moves = MoveMatrix.of(witnesses, problem.system.cells)
        self.residuals = residuals(problem.system, self.moves)

    def claims(self, claims: Sequence[Claim]) -> ReachedLevels:
        """The tables a + step · move for the attackers of the pairs, whose cells they move up or down. Every claim is
        about at least one pair; its witness is a number of these."""
        pairs, regions = self.problem.pairs, self.problem.regions
        counts = np.array([(len(c.up), len(c.down)) for c in claims])
        claim = np.repeat(np.arange(len(claims)), counts.sum(axis=1))
        up = np.repeat(np.tile([True, False], len(claims)), counts.ravel())
        pair = np.concatenate([x for c in claims for x in (c.up, c.down)])
        witness = np.array([c.witness for c in claims])
        step = np.array([float(c.step) for c in claims])
        move = self.moves.at(witness[claim], pairs.cell[pair])
        far = products_down(step[claim], np.where(up, move, -move))
        # An attacker's box must hold the table by a share of the least of its pairs' levels.
        key, row = _numbered(claim * regions.attackers + pairs.attacker[pair])
        of, attacker = np.divmod(key, regions.attackers)
        least = np.full(len(key), np.inf)
        np.minimum.at(least, row, np.where(up, self.problem.levels_up[pair], self.problem.levels_down[pair]))
        least[np.isinf(least)] = 0.0  # pairs that require nothing allow for nothing
        violation, where = self._violation(witness[of], step[of], attacker)
        off = _times(self.residuals.largest[witness], np.abs(step))
        allowed = TOLERANCE * least
        reasons: dict[int, list[str]] = {}
        for i in np.flatnonzero(~(far > 0)).tolist():
            way = "up" if up[i] else "down"
            _add(reasons, claim[i], 1, f"the table does not move the cell of pair {pair[i]} {way}")
        for i in np.flatnonzero(violation > allowed).tolist():
            box = f"the box of attacker {attacker[i]} in cell {where[i]}"
            _add(reasons, of[i], 3, f"the table lies {violation[i]:.6g} outside {box}")
        for i in np.unique(of[off[of] > allowed]).tolist():
            _add(reasons, i, 5, f"the table breaks relation {self.residuals.equation[witness[i]]} by {off[i]:.6g}")
        used = np.maximum(violation, off[of])
        tolerance = np.zeros(len(claims))
        some = (used > 0) & (least > 0)
        np.maximum.at(tolerance, of[some], used[some] / least[some])
        return ReachedLevels(claim, pair, up, far, tolerance, reasons)

    def broken(self, witness: np.ndarray, step: np.ndarray, attacker: np.ndarray) -> np.ndarray:
        """By how much each table a + step · move breaks a relation, or the box of the attacker; 0 if neither."""
        off = _times(self.residuals.largest[witness], np.abs(step))
        return np.maximum(self._violation(witness, step, attacker)[0], off)

    def _violation(self, witness: np.ndarray, step: np.ndarray, attacker: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """How far each table is outside the attacker's box, and in which cell most. Cells that the move leaves alone
        count as well: the truth itself must lie in the box."""
        problem = self.problem
        view = problem.regions.view_of[attacker]
        tables, at = _tables(witness, step, view)
        truth, cell = (x[view] for x in problem.outside)
        most, most_in = np.zeros(len(tables)), np.full(len(tables), -1)
        for part in _parts(self.moves.count[witness[tables]]):
            most[part], most_in[part] = self._outside(witness[tables[part]], step[tables[part]], view[tables[part]])
        out = np.maximum(most[at], truth)
        where = np.where(most[at] >= truth, most_in[at], cell)
        known = problem.regions.known
        if len(known.cell):
            for part in _parts(known.start[attacker + 1] - known.start[attacker]):
                self._beyond_known(out[part], where[part], witness[part], step[part], attacker[part])
        return out, where

    def _beyond_known(
        self, out: np.ndarray, where: np.ndarray, witness: np.ndarray, step: np.ndarray, attacker: np.ndarray
    ) -> None:
        """The same for what attackers know beyond their views; `out` and `where` are changed."""
        known, a = self.problem.regions.known, self.problem.system.a
        owner, entry = known.of(attacker)
        cell, each = known.cell[entry], step[owner]
        move = self.moves.at(witness[owner], cell)
        far = np.maximum(
            excess(a[cell], each, move, known.high[entry]), excess(-a[cell], -each, move, -known.low[entry])
        )
        before = out.copy()
        np.maximum.at(out, owner, far)
        is_most = (far == out[owner]) & (far > before[owner])
        where[owner[is_most]] = cell[is_most]

    def _outside(self, witness: np.ndarray, step: np.ndarray, view: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """How far tables are outside the boxes of views where they move, and in which cell most."""
        moves, regions = self.moves, self.problem.regions
        if len(witness) == 1:
            mine = slice(int(moves.start[witness[0]]), int(moves.start[witness[0] + 1]))
            cell, move, each, seen = moves.cell[mine], moves.move[mine], float(step[0]), int(view[0])
        else:
            count = moves.count[witness]
            mine = spans(moves.start[witness], count)
            cell, move, each, seen = moves.cell[mine], moves.move[mine], np.repeat(step, count), np.repeat(view, count)
        far = outside(self.problem.system.a[cell], each, move, regions.low[seen, cell], regions.high[seen, cell])
        most, most_in = np.zeros(len(witness)), np.full(len(witness), -1)
        beyond = np.flatnonzero(far)
        table = np.repeat(np.arange(len(witness)), moves.count[witness])[beyond] if len(beyond) else beyond
        np.maximum.at(most, table, far[beyond])
        worst = far[beyond] == most[table]
        most_in[table[worst]] = cell[beyond[worst]]
        return most, most_in


def _parts(count: np.ndarray) -> Iterator[slice]:
    """What is compared together, of things with so many numbers each."""
    end = np.cumsum(count)
    first = 0
    while first < len(end):
        before = end[first - 1] if first else 0
        last = max(int(np.searchsorted(end, before + AT_ONCE, side="right")), first + 1)
        yield slice(first, last)
        first = last


def _tables(witness: np.ndarray, step: np.ndarray, view: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of rows with the same table and view the first, and for each row which of these it is."""
    if len(witness) == 1:
        return np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
    order = np.lexsort((view, step, witness))
    other = (np.diff(witness[order]) != 0) | (np.diff(step[order]) != 0) | (np.diff(view[order]) != 0)
    first = np.concatenate([[True], other])
    number = np.empty(len(order), dtype=np.int64)
    number[order] = np.cumsum(first) - 1
    return order[first], number


def _numbered(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The different values, and which of them each one is."""
    if (values[1:] >= values[:-1]).all():
        first = np.concatenate([[True], values[1:] != values[:-1]])
        return values[first], np.cumsum(first) - 1
    return np.unique(values, return_inverse=True)


def _add(reasons: dict[int, list[str]], claim: int, most: int, reason: str) -> None:
    mine = reasons.setdefault(int(claim), [])
    if len(mine) < most:
        mine.append(reason)


def _times(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """x · y for numbers ≥ 0, rounded up."""
    return np.where((x > 0) & (y > 0), np.nextafter(x * y, np.inf), 0.0)
