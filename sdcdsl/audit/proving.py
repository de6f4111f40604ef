"""Findings of attacks as proofs, each checked by arithmetic before it counts.

An engine may be wrong; a verdict may not. What a survey found is written down as witnesses, claims and bounds over the
whole table, and goes through the same checks that `sdcdsl verify` makes later from a file. Only what those accept
enters `up`, `down` (how far each pair is proved to go at least) and `most_up`, `most_down` (at most).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from sdcdsl.attack.session import around
from sdcdsl.attack.task import DOWN, UP
from sdcdsl.audit.attacking import Attack
from sdcdsl.audit.packing import ScaledMove, bundles
from sdcdsl.audit.tuning import TUNING
from sdcdsl.proof.bound import Bound, candidates, reaches
from sdcdsl.proof.ends import meet
from sdcdsl.proof.exact import TOLERANCE
from sdcdsl.proof.families import ServedMembers
from sdcdsl.proof.rational_guess import snapped
from sdcdsl.proof.system import ProofProblem
from sdcdsl.proof.witness import Claim, MoveMatrix, ReachedLevels, Witness, Witnesses, residual

SHORTER = 1 - 2.0**-36  # far less than what is forgiven of a level


@dataclass(eq=False)
class _Tables:
    """A move and what was found out about it, for all the steps it is taken by: one witness serves them."""

    problem: ProofProblem
    cells: np.ndarray
    move: np.ndarray
    whole: Witnesses | None = None  # the same in whole numbers, `factor` times which it is
    factor: float = 1.0
    numbers: dict[bool, int] = field(default_factory=dict)  # of the witness: in whole numbers, or as it came

    @property
    def witness(self) -> Witness:
        """In whole numbers if there are any."""
        if self.whole is None:
            return Witness(self.cells, self.move)
        return Witness(self.whole.moves.cell, self.whole.moves.move)

    @property
    def times(self) -> float:
        """What a step of the move is in steps of that."""
        return 1.0 if self.whole is None else self.factor

    @cached_property
    def plain(self) -> Witnesses:
        return Witnesses(self.problem, [Witness(self.cells, self.move)])


@dataclass(eq=False)
class Proofs:
    """What is proved about every pair, and by what."""

    problem: ProofProblem
    up: np.ndarray
    down: np.ndarray
    most_up: np.ndarray
    most_down: np.ndarray
    # float64 [2, pair], DOWN and UP: the ends of intervals, which no verdict rests on. A table was checked to go as far
    # as `least`, and none to go beyond `most`.
    least: np.ndarray
    most: np.ndarray
    fixed: np.ndarray  # bool [pair]: engines say that the relations alone determine the cell
    witnesses: list[Witness] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)
    bounds: list[Bound] = field(default_factory=list)
    tolerance: float = 0.0  # the largest share of a level that was used
    served: ServedMembers | None = None  # of families whose pairs are not listed
    _last: _Tables | None = None
    _fractional: int = 0  # moves in a row that are no multiples of whole numbers

    @classmethod
    def none(cls, problem: ProofProblem) -> Proofs:
        n = len(problem.pairs)
        return cls(
            problem,
            np.zeros(n),
            np.zeros(n),
            np.full(n, np.inf),
            np.full(n, np.inf),
            np.zeros((2, n)),
            _own_ends(problem),
            np.zeros(n, dtype=bool),
            served=ServedMembers(problem) if problem.families is not None else None,
        )

    def extend(self, problem: ProofProblem) -> None:
        """The problem has more pairs in its list, after the others."""
        fresh, before = Proofs.none(problem), len(self.problem.pairs)
        self.problem = problem
        for name in ("up", "down", "most_up", "most_down", "least", "most", "fixed"):
            more = getattr(fresh, name)[..., before:]
            setattr(self, name, np.concatenate([getattr(self, name), more], axis=-1))
        if self.served is not None:
            self.served.extended(problem)

    @property
    def values(self) -> np.ndarray:
        """The true values of the pairs' cells."""
        return self.problem.system.a[self.problem.pairs.cell]

    @property
    def exact(self) -> np.ndarray:
        """bool [2, pair]: ends that are proved from both sides."""
        return meet(self.least, self.most, self.values)

    @property
    def verdicts(self) -> np.ndarray:
        """p protected · e exposed · n not proven; so is a pair that stands for a family where a member is served by no
        table and has no pair of its own."""
        out = self.of_listed
        if self.served is not None:
            short = np.isin(self.served.of_pair, self.served.unserved()[0])
            out[short & (out == "p")] = "n"
        return out

    @property
    def of_listed(self) -> np.ndarray:
        """The verdicts of the pairs in the list, each by itself."""
        pairs = self.problem.pairs
        less, more = 1 - TOLERANCE, 1 - TOLERANCE
        protected = (
            (self.up >= pairs.upl * less) & (self.down >= pairs.lpl * less) & (self.up + self.down >= pairs.spl * less)
        )
        exposed = (
            (self.most_up < pairs.upl * more)
            | (self.most_down < pairs.lpl * more)
            | (np.nextafter(self.most_up + self.most_down, np.inf) < pairs.spl * more)
        )
        return np.where(exposed, "e", np.where(protected, "p", "n"))

    def note(self, attack: Attack) -> None:
        """Ends of intervals, and proofs that cells go no further."""
        found, pairs = attack.findings, attack.pairs
        self._refutations(attack)
        if found.least.shape == found.reached.shape:
            self.least[:, pairs] = np.maximum(self.least[:, pairs], found.least)
            self.most[:, pairs] = np.minimum(self.most[:, pairs], found.most)
            self.fixed[pairs] |= found.fixed

    def reached(self, pair: int, side: int) -> bool:
        pairs = self.problem.pairs
        up, down = self.up[pair] >= pairs.upl[pair], self.down[pair] >= pairs.lpl[pair]
        return bool(up if side == UP else down)

    def take(self, part: ScaledMove) -> bool:
        """One table for some pairs; whether it holds."""
        return self._witness(part)

    def take_all(self, parts: Sequence[ScaledMove]) -> None:
        """Many tables, checked together; those that do not hold like this, each by itself."""
        tables: dict[int, _Tables] = {}
        for part in parts:
            if id(part.move) not in tables:
                tables[id(part.move)] = self._tables(part)
        number = {move: k for k, move in enumerate(tables)}
        checked = Witnesses(self.problem, [one.witness for one in tables.values()])
        for first in range(0, len(parts), TUNING.claims):
            some = parts[first : first + TUNING.claims]
            claims = [
                Claim(number[id(part.move)], part.step * tables[id(part.move)].times, part.up, part.down)
                for part in some
            ]
            reached = checked.claims(claims)
            for k, (part, claim) in enumerate(zip(some, claims, strict=True)):
                made, one = tables[id(part.move)], reached.of(k)
                whole = made.whole is not None
                if one.reasons or (whole and self._guessed_away(part, one)):
                    self._last = made
                    self._witness(part)
                else:
                    self._enter(made, whole, claim.step, part, checked.moves, claim.witness, one)
        self._last = None

    def retake(self, before: Proofs) -> None:
        """Tables of an audit of another release, as far as they hold for this one. Its pairs are the first of these."""
        mine, others = self.problem.pairs, before.problem.pairs
        count = len(others)
        columns = ("cell", "attacker", "lpl", "upl", "spl")
        if not all(np.array_equal(getattr(mine, name)[:count], getattr(others, name)) for name in columns):
            return
        for claim in sorted(before.claims, key=lambda one: one.witness):
            table = before.witnesses[claim.witness]
            self._witness(ScaledMove(table.cells, table.move, claim.step, claim.up, claim.down))
        self._last = None

    def add(self, attack: Attack) -> None:
        """What a survey found out, as far as it holds."""
        self._fractional = 0
        self.note(attack)
        for bundle in bundles(_parts(attack), self.problem.system.cells):
            # Of a bundle that does not hold as a whole, each part may.
            if not self._witness(bundle.joined()) and len(bundle.parts) > 1:
                for part in bundle.parts:
                    self._witness(part)
        self._last = None

    def _refutations(self, attack: Attack) -> None:
        number = attack.component.equations
        self._bounds(
            [
                _candidates(attack.pairs[r.pairs], r.side == UP, number[r.equations], r.gamma)
                for r in attack.findings.refutations
            ]
        )

    def add_by_own_box(self, pairs: np.ndarray) -> None:
        """Cells without slack: the box itself is the bound."""
        nothing = np.zeros(0, dtype=np.int64), np.zeros(0)
        sides = [(pairs[i : i + 1], up) for i in range(len(pairs)) for up in (True, False)]
        self._bounds([_candidates(pair, up, *nothing) for pair, up in sides])

    # ---- witnesses ---------------------------------------------------------------------------------

    def _witness(self, part: ScaledMove) -> bool:
        """Whether the table holds for all pairs that rely on it; then it counts."""
        if self._last is None or self._last.move is not part.move:
            self._last = self._tables(part)
        tables = self._last
        whole = tables.whole is not None
        made, step = (
            (tables.whole, part.step * tables.factor) if tables.whole is not None else (tables.plain, part.step)
        )
        reached = made.claims([Claim(0, step, part.up, part.down)])
        if whole and self._guessed_away(part, reached):
            plain = tables.plain.claims([Claim(0, part.step, part.up, part.down)])
            if not plain.reasons:
                whole, made, step, reached = False, tables.plain, part.step, plain
        if reached.reasons:  # a table beyond its box by a rounding error: a step that is shorter by a hair may fit
            step *= SHORTER
            reached = made.claims([Claim(0, step, part.up, part.down)])
        if reached.reasons:
            return False
        self._enter(tables, whole, step, part, made.moves, 0, reached)
        return True

    def _enter(
        self,
        tables: _Tables,
        whole: bool,
        step: float,
        part: ScaledMove,
        moves: MoveMatrix,
        number: int,
        reached: ReachedLevels,
    ) -> None:
        """A claim that holds: of the move with this number among `moves`."""
        for ends, rely in ((self.up, reached.up), (self.down, ~reached.up)):
            np.maximum.at(ends, reached.pair[rely], reached.far[rely])
        self.tolerance = max(self.tolerance, float(reached.tolerance[0]))
        if whole not in tables.numbers:
            tables.numbers[whole] = len(self.witnesses)
            cells = slice(int(moves.start[number]), int(moves.start[number + 1]))
            self.witnesses.append(Witness(moves.cell[cells], moves.move[cells]))
        self.claims.append(Claim(tables.numbers[whole], step, part.up, part.down))
        if self.served is not None:
            self.served.take(moves, number, step, reached.pair, reached.up, reached.far)

    def _tables(self, part: ScaledMove) -> _Tables:
        system, whole = self.problem.system, None
        if self._fractional < TUNING.patience:
            whole = snapped(part.move, lambda numbers: residual(system, Witness(part.cells, numbers)).largest[0] == 0)
            self._fractional = 0 if whole is not None else self._fractional + 1
        if whole is None:
            return _Tables(self.problem, part.cells, part.move)
        checked = Witnesses(self.problem, [Witness(part.cells, whole[0])])
        return _Tables(self.problem, part.cells, part.move, checked, whole[1])

    def _guessed_away(self, part: ScaledMove, reached: ReachedLevels) -> bool:
        """Whether the whole numbers that a move was taken for miss a level that the move itself reaches: 5.0000001 may
        stand for 5, or for itself. Of a sliding level either side may need all it can get."""
        if reached.reasons:
            return True
        pairs, up, rely = self.problem.pairs, reached.up, reached.pair
        at = np.searchsorted(part.cells, pairs.cell[rely])
        least = np.where(up, self.problem.levels_up[rely], self.problem.levels_down[rely]) * (1 - TOLERANCE)
        moved = np.where(up, part.step, -part.step) * part.move[at]
        shorter = (pairs.spl[rely] > 0) & (reached.far < moved * (1 - TOLERANCE))
        return bool(((reached.far < least) & (moved >= least) | shorter).any())

    # ---- bounds ------------------------------------------------------------------------------------

    def _bounds(self, refutations: list[Iterator[Bound]]) -> None:
        """Of each, the best of its candidates, as many as it takes to get below the level: all first ones together,
        then all second ones."""
        best: dict[int, Bound] = {}
        left = list(range(len(refutations)))
        while left:
            tried = [(i, bound) for i in left if (bound := next(refutations[i], None)) is not None]
            left = []
            for (i, bound), amount in zip(tried, reaches(self.problem, [b for _, b in tried]), strict=True):
                pairs, most = bound.pairs, self.most_up if bound.up else self.most_down
                if (amount < most[pairs]).any():
                    most[pairs], best[i] = np.minimum(most[pairs], amount), bound
                if not (most[pairs] < self.problem.pairs.level(bound.up)[pairs] * (1 - TOLERANCE)).all():
                    left.append(i)
        self.bounds += [best[i] for i in sorted(best)]


def _candidates(pairs: np.ndarray, up: bool, equations: np.ndarray, gamma: np.ndarray) -> Iterator[Bound]:
    pairs = np.sort(pairs)
    for numbers, denominator in candidates(gamma):
        used = np.flatnonzero(numbers) if denominator > 1 else slice(None)
        yield Bound(int(pairs[0]), up, equations[used], numbers[used], denominator, also=pairs[1:])


def _own_ends(problem: ProofProblem) -> np.ndarray:
    """How far the box of each pair's own cell lets it go."""
    pairs, who = problem.pairs, np.arange(len(problem.pairs))
    low, high = problem.regions.boxes(pairs.attacker, np.zeros(len(pairs), dtype=bool), who, pairs.cell)
    l, u = around(problem.system.a[pairs.cell], low, high)
    ends = np.empty((2, len(pairs)))
    ends[DOWN], ends[UP] = -l, u
    return ends


def _parts(attack: Attack) -> Iterator[ScaledMove]:
    """Pairs that rely on the same move, taken equally often."""
    found = attack.findings
    side, pair = np.nonzero(found.witness >= 0)
    witness, step = found.witness[side, pair], found.step[side, pair]
    order = np.lexsort((step, witness))
    side, pair, witness, step = side[order], pair[order], witness[order], step[order]
    ends = np.flatnonzero((np.diff(witness) != 0) | (np.diff(step) != 0)) + 1
    for mine in np.split(np.arange(len(order)), ends) if len(order) else ():
        cells, move = found.moves[witness[mine[0]]]
        pairs, up = attack.pairs[pair[mine]], side[mine] == UP
        yield ScaledMove(attack.component.cells[cells], move, float(step[mine[0]]), pairs[up], pairs[~up])
