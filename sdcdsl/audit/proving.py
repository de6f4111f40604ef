"""Findings of attacks as proofs, each checked by arithmetic before it counts.

An engine may be wrong; a verdict may not. What a survey found is written down as witnesses, claims and bounds over the
whole table, and goes through the same checks that `sdcdsl verify` makes later from a file. Only what those accept
enters `up`, `down` (how far each pair is proved to go at least) and `most_up`, `most_down` (at most).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from sdcdsl.attack.task import DOWN, UP
from sdcdsl.audit.attacking import Attack
from sdcdsl.audit.packing import Part, bundles
from sdcdsl.proof.bound import Bound, rational, reach
from sdcdsl.proof.exact import TOLERANCE
from sdcdsl.proof.system import Problem
from sdcdsl.proof.witness import Claim, Reached, Witness, WitnessCheck, residual, snapped

PATIENCE = 5  # moves of a table that turn out to be no whole numbers, after which nobody tries any more


@dataclass(eq=False)
class Proofs:
    """What is proved about every pair, and by what."""

    problem: Problem
    up: np.ndarray
    down: np.ndarray
    most_up: np.ndarray
    most_down: np.ndarray
    found_up: np.ndarray  # how far the engines say it goes: for display, never for a verdict
    found_down: np.ndarray
    closed: np.ndarray  # bool [2, pair]: and that it goes no further
    witnesses: list[Witness] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)
    bounds: list[Bound] = field(default_factory=list)
    tolerance: float = 0.0  # the largest share of a level that was used
    _fractional: int = 0  # moves in a row that are no multiples of whole numbers

    @classmethod
    def none(cls, problem: Problem) -> Proofs:
        n = len(problem.pairs)
        return cls(
            problem,
            np.zeros(n),
            np.zeros(n),
            np.full(n, np.inf),
            np.full(n, np.inf),
            np.zeros(n),
            np.zeros(n),
            np.zeros((2, n), dtype=bool),
        )

    @property
    def verdicts(self) -> np.ndarray:
        """p protected · e exposed · n not proven."""
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
        """How far the engines say that cells go, and proofs of how far they do not."""
        found = attack.findings
        self.closed[:, attack.pairs] |= found.closed
        self._refutations(attack)
        self.found_up[attack.pairs] = np.maximum(self.found_up[attack.pairs], found.reached[UP])
        self.found_down[attack.pairs] = np.maximum(self.found_down[attack.pairs], found.reached[DOWN])

    def add(self, attack: Attack) -> None:
        """What a survey found out, as far as it holds."""
        self._fractional = 0
        self.note(attack)
        for bundle in bundles(_parts(attack), self.problem.system.cells):
            # Of a bundle that does not hold as a whole, each part may.
            if not self._witness(bundle.joined()) and len(bundle.parts) > 1:
                for part in bundle.parts:
                    self._witness(part)

    def _refutations(self, attack: Attack) -> None:
        for refutation in attack.findings.refutations:
            equations = attack.component.equations[refutation.equations]
            self._bound(attack.pairs[refutation.pairs], refutation.side == UP, equations, refutation.gamma)

    def add_by_own_box(self, pairs: np.ndarray) -> None:
        """Cells without room: the box itself is the bound."""
        for i in range(len(pairs)):
            for up in (True, False):
                self._bound(pairs[i : i + 1], up, np.zeros(0, dtype=np.int64), np.zeros(0))

    # ---- witnesses ---------------------------------------------------------------------------------

    def _witness(self, part: Part) -> bool:
        """Whether the table holds for all pairs that rely on it; then it counts."""
        system, cells = self.problem.system, part.cells
        whole = None
        if self._fractional < PATIENCE:
            whole = snapped(part.move, lambda numbers: residual(system, cells, numbers).largest == 0)
            self._fractional = 0 if whole is not None else self._fractional + 1
        move, factor = whole if whole is not None else (part.move, 1.0)
        step = part.step * factor
        reached = WitnessCheck(self.problem, Witness(cells, move)).claims(step, part.up, part.down)
        if whole is not None and self._guessed_away(part, reached):
            plain = WitnessCheck(self.problem, Witness(cells, part.move)).claims(part.step, part.up, part.down)
            if not plain.reasons:
                move, step, reached = part.move, part.step, plain
        if reached.reasons:
            return False
        np.maximum.at(self.up, part.up, reached.up)
        np.maximum.at(self.down, part.down, reached.down)
        self.tolerance = max(self.tolerance, reached.tolerance)
        self._claim(len(self.witnesses), step, part.up, part.down)
        self.witnesses.append(Witness(cells, move))
        return True

    def _guessed_away(self, part: Part, reached: Reached) -> bool:
        """Whether the whole numbers that a move was taken for miss a level that the move itself reaches: 5.0000001 may
        stand for 5, or for itself."""
        if reached.reasons:
            return True
        pairs, levels = self.problem.pairs, (self.problem.levels_up, self.problem.levels_down)
        for rely, got, level, sign in zip(
            (part.up, part.down), (reached.up, reached.down), levels, (1, -1), strict=True
        ):
            at = np.searchsorted(part.cells, pairs.cell[rely])
            least = level[rely] * (1 - TOLERANCE)
            if ((got < least) & (sign * part.step * part.move[at] >= least)).any():
                return True
        return False

    def _claim(self, witness: int, step: float, up: np.ndarray, down: np.ndarray) -> None:
        """One claim an attacker."""
        attacker = self.problem.pairs.attacker
        for who in np.unique(attacker[np.concatenate([up, down])]):
            mine = Claim(witness, int(who), step, up[attacker[up] == who], down[attacker[down] == who])
            self.claims.append(mine)

    # ---- bounds ------------------------------------------------------------------------------------

    def _bound(self, pairs: np.ndarray, up: bool, equations: np.ndarray, gamma: np.ndarray) -> None:
        most = self.most_up if up else self.most_down
        level = self.problem.pairs.level(up)[pairs] * (1 - TOLERANCE)
        best = None
        for candidate in _candidates(pairs, up, equations, gamma):
            amount = reach(self.problem, candidate)
            if (amount < most[pairs]).any():
                most[pairs], best = np.minimum(most[pairs], amount), candidate
            if (most[pairs] < level).all():
                break
        if best is not None:
            self.bounds.append(best)


def _candidates(pairs: np.ndarray, up: bool, equations: np.ndarray, gamma: np.ndarray) -> Iterator[Bound]:
    """The multipliers as small fractions, if that is what they are, and as they came."""
    pairs = np.sort(pairs)
    exact = rational(gamma) if len(gamma) else None
    if exact is not None:
        yield Bound(int(pairs[0]), up, equations, *exact, also=pairs[1:])
    yield Bound(int(pairs[0]), up, equations, gamma, also=pairs[1:])


def _parts(attack: Attack) -> Iterator[Part]:
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
        yield Part(attack.component.cells[cells], move, float(step[mine[0]]), pairs[up], pairs[~up])
