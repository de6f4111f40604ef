"""What the attackers of paper 002 know, and what they guess.

x is released and T, the relations, are known. The attacker looks for the deviations ẑ = x - â by solving the problem of
the office once more, with guesses in place of what depends on the true values a (paper 002, (10) to (14)):

    min ‖ẑ‖ with weights w(x̃),    T ẑ = 0,    l̂ ≤ ẑ ≤ û
    l̂_i = upl_i if i ∈ S moved up,       else  x̃_i - u_i
    û_i = -lpl_i if i ∈ S moved down,    else  x̃_i - l_i

x̃ is drawn from x (1 ± β), and β is the largest relative deviation. In all experiments S and the bounds l_i .. u_i are
known, and which cells had to stay as they are.

    B1    senses drawn, levels drawn      a level is x_i times its share of a_i, give or take Δ
    B2    senses known, levels drawn
    B3    senses known, levels known
    C     as B3, and the bounds l̂, û are those at a in place of x̃: only the weights are guessed

Every replication has draws of its own, and the same for every experiment and norm: what differs between two rows of a
result is what the attacker knows.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from sdcdsl.bind.problem import TableProblem
from sdcdsl.methods.cta.adjustment import Adjustment, adjustment

NEGLIGIBLE = 1e-9  # of the largest value: the paper's δ, where a share of the value is taken


class Stream(IntEnum):
    """Which random numbers: adding an experiment must not change the draws of another."""

    VALUES, SENSES, LEVELS = 0, 1, 2


@dataclass(frozen=True, eq=False)
class Guess:
    """One attacker problem."""

    l: np.ndarray  # [cell]
    u: np.ndarray
    w: np.ndarray  # [cell]: weight of the norm; 0 for sums that nobody publishes
    penalty: np.ndarray  # [cell]: what a unit outside l .. u costs, before its factor: 1/x̃, whatever the norm


class Attacker:
    """`x` are the released values; a cell without one (nan) says nothing and is free."""

    def __init__(self, problem: TableProblem, x: np.ndarray, delta: float, seed: int, made: Adjustment | None = None):
        self.made = made if made is not None else adjustment(problem)
        self.a, self.cells, self.delta, self.seed = self.made.a, self.made.cells, delta, seed
        self.x = completed(problem, x)
        self.unseen = np.isnan(self.x)
        self.x = np.where(self.unseen, self.a, self.x)
        self.sums = ~problem.dataset["published"].values
        self.stays = (self.made.low == 0) & (self.made.high == 0)
        self.level = self._levels()
        self.sense = np.where(self.x[self.cells] >= self.a[self.cells], 1, -1)
        self.beta = self._largest_deviation()

    def _levels(self) -> np.ndarray:
        """[DOWN | UP, p]. A direction that does not protect has no level of its own: the other one is as good a guess
        as any."""
        down, up = self.made.lpl, self.made.upl
        return np.stack([np.where(np.isinf(down), up, down), np.where(np.isinf(up), down, up)])

    def _largest_deviation(self) -> float:
        a, x = np.abs(self.a), np.abs(self.x - self.a)
        counted = (a > 0) & ~self.sums & ~self.unseen
        return float((x[counted] / a[counted]).max(initial=0.0))

    def guess(self, experiment: str, norm: str, replication: int) -> Guess:
        x = self._draw(Stream.VALUES, replication).uniform(1 - self.beta, 1 + self.beta, len(self.x)) * self.x
        lower, upper = self.a + self.made.low, self.a + self.made.high
        centre = self.a if experiment == "C" else x
        l, u = centre - upper, centre - lower
        sense, (lpl, upl) = self._known(experiment, replication)
        up, down = sense > 0, sense < 0
        l[self.cells[up]], u[self.cells[down]] = upl[up], -lpl[down]
        l[self.stays] = u[self.stays] = 0.0
        l[self.unseen], u[self.unseen] = -np.inf, np.inf
        inverse = _inverse(x)
        w = inverse if norm == "L1" else inverse**2
        return Guess(l, u, np.where(self.sums | self.unseen, 0.0, w), inverse)

    def _known(self, experiment: str, replication: int) -> tuple[np.ndarray, np.ndarray]:
        """Senses [p] and levels [DOWN | UP, p] as this attacker has them."""
        sense, level = self.sense, self.level
        if experiment == "B1":
            sense = 2 * self._draw(Stream.SENSES, replication).integers(0, 2, len(self.cells)) - 1
        if experiment in ("B1", "B2"):
            size = np.abs(self.a[self.cells])
            share = level / np.maximum(size, NEGLIGIBLE * max(float(np.abs(self.a).max(initial=0.0)), 1e-300))
            least, most = np.maximum(share - self.delta, 0.0), share + self.delta
            drawn = self._draw(Stream.LEVELS, replication).uniform(0.0, 1.0, level.shape)
            level = np.abs(self.x[self.cells]) * (least + (most - least) * drawn)
        return sense, level

    def _draw(self, stream: Stream, replication: int) -> np.random.Generator:
        return np.random.default_rng([self.seed, replication, stream])


def completed(problem: TableProblem, x: np.ndarray) -> np.ndarray:
    """Sums that exist only to be protected have no released value: theirs follows from their members."""
    d = problem.dataset
    coefficient, cell, equation = d["coefficient"].values, d["cell_of"].values, d["equation_of"].values
    sums = ~d["published"].values
    out = np.array(x, dtype=float)
    if not sums.any():
        return out
    inside = ~sums[cell]
    rest = np.bincount(equation[inside], weights=(coefficient * out[cell])[inside], minlength=problem.m)
    rest -= d["b"].values
    for entry in np.flatnonzero(~inside):
        out[cell[entry]] = rest[equation[entry]] / -coefficient[entry]
    return out


def _inverse(x: np.ndarray) -> np.ndarray:
    """1/x, the paper's weight in L1 and its root in L2; 1 where x is zero. The office's own costs are not known."""
    size = np.abs(x)
    return np.divide(1.0, size, out=np.ones_like(size), where=size > 0)
