"""One attacker problem after another, on solvers that stay warm; soft where nothing fits the guesses.

Guesses may contradict each other. Then the bounds become soft (paper 002, section 5): ẑ = y + s with y between the
bounds and s the way beyond them, at a penalty in proportion,

    min Σ |y_i| / x̃_i + (1 + factor) |s_i| / x̃_i,    T (y + s) = 0,    l ≤ y ≤ u,    s free

Where l exceeds u every ẑ between them is wrong by l - u in all: the penalty there is a constant, and y is free to lie
between them. In L1 that is the answer. In L2 it says which bounds give way and how far; the closest table is then
sought within the wider bounds, so that none gives way to a square any further.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array, hstack

from sdcdsl.deadline import Deadline
from sdcdsl.numerics.nearest.l1 import L1
from sdcdsl.numerics.nearest.l2 import L2
from sdcdsl.risk.attacker import Guess
from sdcdsl.status import INFEASIBLE, OPTIMAL

PATIENCE = 60.0  # seconds for one problem: a solver that is lost must not hold up the others


@dataclass(frozen=True, eq=False)
class AttackerSolution:
    z: np.ndarray | None  # None: no solver answered, or the time is over
    soft: bool


class AttackerProblem:
    def __init__(self, M: csr_array, norm: str, factor: float):
        self.norm, self.factor = norm, factor
        self._M = M
        self._l1 = L1(M)
        self._l2 = L2(M, many=True) if norm == "L2" else None
        self._soft: L1 | None = None  # most tables never need it

    def solve(self, guess: Guess, deadline: Deadline) -> AttackerSolution:
        part = deadline.within(PATIENCE)
        if (guess.l <= guess.u).all():
            status, z = self._hard(guess, part)
            if status != INFEASIBLE:
                return AttackerSolution(z, False)
        return AttackerSolution(self._softly(guess, part), True)

    def _hard(self, guess: Guess, deadline: Deadline) -> tuple[str, np.ndarray | None]:
        if self._l2 is None:
            made = self._l1.solve(guess.w, guess.w, guess.l, guess.u, deadline)
            return made.status, made.z
        # Whether anything fits is quickly told by a linear program, and slowly by Newton's method.
        nothing = np.zeros(len(guess.w))
        if (
            not self._l2.tells_what_fits
            and self._l1.solve(nothing, nothing, guess.l, guess.u, deadline).status == INFEASIBLE
        ):
            return INFEASIBLE, None
        made = self._l2.solve(guess.w, guess.l, guess.u, deadline)
        return made.status, made.z

    def _softly(self, guess: Guess, deadline: Deadline) -> np.ndarray | None:
        if self._soft is None:
            self._soft = L1(csr_array(hstack([self._M, self._M])))
        low, high = np.minimum(guess.l, guess.u), np.maximum(guess.l, guess.u)
        # A cell without bounds has nothing to break.
        beyond = np.where(np.isneginf(low) & np.isposinf(high), 0.0, np.inf)
        inside = guess.penalty * (guess.w > 0)
        w = np.concatenate([inside, inside + self.factor * guess.penalty])
        ends = np.concatenate([low, -beyond]), np.concatenate([high, beyond])
        made = self._soft.solve(w, w, *ends, deadline)
        if made.status != OPTIMAL or made.z is None:
            return None
        y, s = np.split(made.z, 2)
        if self._l2 is None:
            return y + s
        return self._l2.solve(guess.w, np.minimum(low, y + s), np.maximum(high, y + s), deadline).z
