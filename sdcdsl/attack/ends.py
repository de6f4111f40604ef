"""How far the sides of a survey are proved to go, from below and from above.

Engines answer in floating point, and in a box that may have been cut off where nobody expects an end. Here every answer
is checked by arithmetic (`proof.ends`) in the box as it is: the move that gets there, and the multipliers that end it.
"""

from __future__ import annotations

from math import inf

import numpy as np

from sdcdsl.attack.engine import Identity, nothing
from sdcdsl.attack.task import DOWN, UP, AttackTask, Findings
from sdcdsl.attack.tuning import TUNING
from sdcdsl.proof.ends import attained, limits, unending
from sdcdsl.proof.system import ProofPairs, ProofProblem, Regions, System
from sdcdsl.proof.witness import Witness


class Ends:
    def __init__(self, task: AttackTask):
        self.task = task
        self._why: dict[tuple[int, int], Identity] = {}

    def ended_by(self, side: int, pairs: np.ndarray, identity: Identity) -> None:
        """Why some pairs go no further: the last word counts."""
        for pair in pairs.tolist():
            self._why[side, pair] = identity

    def why(self, side: int, pair: int) -> Identity:
        """The reason that was given, or the cell's own box."""
        return self._why.get((side, pair)) or nothing()

    def prove(self, found: Findings) -> None:
        """Fills in `least` and `most`, before moves that nothing stops are given a length."""
        problem = _around_the_truth(self.task)
        found.most[:] = _own(problem)
        self._attain(problem, found)
        self._limit(problem, found)

    def _attain(self, problem: ProofProblem, found: Findings) -> None:
        required = found.closed | self.task.exact  # of others nobody asked for the end
        side, pair = np.nonzero(required & (found.witness >= 0) & (found.step != 0))
        step, which = found.step[side, pair], found.witness[side, pair]
        endless = np.isinf(step)
        for s, p, w, way in zip(*(x[endless].tolist() for x in (side, pair, which, step)), strict=True):
            # Past its own end nobody goes, whatever a solver took for a ray.
            if found.most[s, p] == inf and unending(problem, Witness(*found.moves[w]), np.sign(way), p):
                found.least[s, p] = inf
        order = np.argsort(which[~endless], kind="stable")
        side, pair, step, which = (x[~endless][order] for x in (side, pair, step, which))
        size = np.cumsum([len(found.moves[w][0]) for w in which.tolist()])
        for part in np.split(np.arange(len(which)), np.flatnonzero(np.diff(size // TUNING.checked_together)) + 1):
            used, number = np.unique(which[part], return_inverse=True)
            witnesses = [Witness(*found.moves[w]) for w in used.tolist()]
            far = attained(problem, witnesses, number, step[part], pair[part])
            at = side[part], pair[part]
            found.least[at] = np.minimum(far, found.most[at])

    def _limit(self, problem: ProofProblem, found: Findings) -> None:
        sides = list(self._why)
        reasons = [
            (pair, side == UP, equations, gamma if side == UP else -gamma)
            for (side, pair), (equations, gamma) in self._why.items()
        ]
        if not sides:
            return
        at = tuple(np.array(sides).T)
        nothing = np.zeros(len(sides))  # of the values nothing is known here, nor needed
        found.most[at] = np.minimum(found.most[at], limits(problem, reasons, found.least[at], nothing))


def _around_the_truth(task: AttackTask) -> ProofProblem:
    """The component with the truth at 0, in the box that is not cut off."""
    component, known = task.component, task.known
    n, m = len(component.cells), component.matrix
    l, u, known_l, known_u = task.box or (component.l, component.u, known.l, known.u)
    row = np.repeat(np.arange(m.rows), np.diff(m.start))
    system = System(np.zeros(n), m.value, m.index, row, np.zeros(m.rows))
    who = np.zeros(max(task.attackers, 1), dtype=np.int64)
    regions = Regions(l[None], u[None], who, known.attacker, known.cell, known_l, known_u)
    none = np.zeros(len(task.pairs))
    return ProofProblem(system, regions, ProofPairs(task.pairs.cell, task.pairs.attacker, none, none, none))


def _own(problem: ProofProblem) -> np.ndarray:
    """[side, pair]: how far the box of the cell itself lets each pair go."""
    pairs = problem.pairs
    who = np.arange(len(pairs))
    low, high = problem.regions.boxes(pairs.attacker, np.zeros(len(pairs), dtype=bool), who, pairs.cell)
    out = np.empty((2, len(pairs)))
    out[DOWN], out[UP] = -low, high
    return out
