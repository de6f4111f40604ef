"""Findings of attacks as proofs, each checked by arithmetic before it counts.

An engine may be wrong; a verdict may not. What a survey found is written down as witnesses, claims and bounds over the
whole table, and goes through the same checks that `sdcdsl verify` makes later from a file. Only what those accept
enters `up`, `down` (how far each pair is proved to go at least) and `most_up`, `most_down` (at most).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from sdcdsl.attack.survey import DOWN, UP
from sdcdsl.audit.attacking import Attack
from sdcdsl.proof.bound import Bound, rational, reach
from sdcdsl.proof.exact import TOLERANCE
from sdcdsl.proof.system import Problem
from sdcdsl.proof.witness import Claim, Witness, WitnessCheck, residual, snapped


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
    witnesses: list[Witness] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)
    bounds: list[Bound] = field(default_factory=list)
    tolerance: float = 0.0  # the largest share of a level that was used

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

    def add(self, attack: Attack) -> None:
        reached = attack.findings.reached
        self.found_up[attack.pairs] = np.maximum(self.found_up[attack.pairs], reached[UP])
        self.found_down[attack.pairs] = np.maximum(self.found_down[attack.pairs], reached[DOWN])
        for number, (cells, move) in enumerate(attack.findings.moves):
            self._witness(attack, number, attack.component.cells[cells], move)
        for refutation in attack.findings.refutations:
            equations = attack.component.equations[refutation.equations]
            self._bound(int(attack.pairs[refutation.pair]), refutation.side == UP, equations, refutation.gamma)

    def add_by_own_box(self, pairs: np.ndarray) -> None:
        """Cells without room: the box itself is the bound."""
        for pair in pairs:
            for up in (True, False):
                self._bound(int(pair), up, np.zeros(0, dtype=np.int64), np.zeros(0))

    # ---- witnesses ---------------------------------------------------------------------------------

    def _witness(self, attack: Attack, number: int, cells: np.ndarray, move: np.ndarray) -> None:
        system = self.problem.system
        whole = snapped(move, lambda numbers: residual(system, cells, numbers).largest == 0)
        factor = 1.0
        if whole is not None:
            move, factor = whole
        check = WitnessCheck(self.problem, Witness(cells, move))
        place = len(self.witnesses)
        accepted = False
        for step, up, down in _groups(attack, number, factor):
            reached = check.claims(step, up, down)
            if reached.reasons:
                continue
            accepted = True
            np.maximum.at(self.up, up, reached.up)
            np.maximum.at(self.down, down, reached.down)
            self.tolerance = max(self.tolerance, reached.tolerance)
            self._claim(place, step, up, down)
        if accepted:
            self.witnesses.append(Witness(cells, move))

    def _claim(self, witness: int, step: float, up: np.ndarray, down: np.ndarray) -> None:
        """One claim an attacker."""
        attacker = self.problem.pairs.attacker
        for who in np.unique(attacker[np.concatenate([up, down])]):
            mine = Claim(witness, int(who), step, up[attacker[up] == who], down[attacker[down] == who])
            self.claims.append(mine)

    # ---- bounds ------------------------------------------------------------------------------------

    def _bound(self, pair: int, up: bool, equations: np.ndarray, gamma: np.ndarray) -> None:
        most = self.most_up if up else self.most_down
        best = None
        for candidate in _candidates(pair, up, equations, gamma):
            amount = reach(self.problem, candidate)
            if amount < most[pair]:
                most[pair], best = amount, candidate
        if best is not None:
            self.bounds.append(best)


def _candidates(pair: int, up: bool, equations: np.ndarray, gamma: np.ndarray) -> Iterator[Bound]:
    """The multipliers as small fractions, if that is what they are, and as they came."""
    exact = rational(gamma) if len(gamma) else None
    if exact is not None:
        yield Bound(pair, up, equations, *exact)
    yield Bound(pair, up, equations, gamma)


def _groups(attack: Attack, number: int, factor: float) -> Iterator[tuple[float, np.ndarray, np.ndarray]]:
    """Pairs that rely on one move, by how often it is taken."""
    found, pairs = attack.findings, attack.pairs
    sides = [np.flatnonzero(found.witness[side] == number) for side in (DOWN, UP)]
    steps = [found.step[side, chosen] * factor for side, chosen in zip((DOWN, UP), sides, strict=True)]
    for step in np.unique(np.concatenate(steps)):
        down, up = (pairs[chosen[s == step]] for chosen, s in zip(sides, steps, strict=True))
        yield float(step), up, down
