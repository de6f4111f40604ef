"""Witnesses: other tables that an attacker cannot tell from the truth.

A witness is a move d with M d = 0. A claim says of one attacker k that the table a + step · d lies in k's box, and of
some of k's pairs that this table drives their cell up or down. One witness serves many claims.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sdcdsl.proof.exact import TOLERANCE, exact_sums, excess, products_down, round_up, scaled, sums
from sdcdsl.proof.system import Problem, System


@dataclass(frozen=True, eq=False)
class Witness:
    cells: np.ndarray  # int64, ascending
    move: np.ndarray  # float64, whole numbers wherever possible


@dataclass(frozen=True, eq=False)
class Claim:
    witness: int
    attacker: int
    step: float  # negative: the move in reverse
    pairs_up: np.ndarray  # int: pairs of this attacker whose cell the table moves up
    pairs_down: np.ndarray


@dataclass(frozen=True, eq=False)
class Residual:
    """How far M · move is from zero: `largest` is not below the truth, and 0 exactly if all relations hold."""

    largest: float
    equation: int  # where; -1 if nowhere


@dataclass(frozen=True, eq=False)
class Reached:
    """What the claims of one witness and step come to. With `reasons`, nothing is to be believed."""

    up: np.ndarray  # float64 [pair of the claim]: how far, rounded down
    down: np.ndarray
    tolerance: float  # the largest share of a level that was used; 0: the claims hold exactly
    reasons: list[str]


def residual(system: System, cells: np.ndarray, move: np.ndarray) -> Residual:
    at, equation, coefficient = system.by_cell.of(cells)
    if not len(at):
        return Residual(0.0, -1)
    if 8 * len(at) < system.equations:
        equations, group = np.unique(equation, return_inverse=True)
    else:
        equations, group = None, equation
    groups = system.equations if equations is None else len(equations)
    amount = move[at]
    value, error = sums(coefficient, amount, group, groups)
    size = np.abs(value) + error
    left = (error > 0) & ~(np.abs(value) > error)
    if left.any() and (move == np.rint(move)).all():  # of other moves nobody expects an exact zero: the bound will do
        mine = left[group]
        number = np.cumsum(left) - 1
        numbers, exponent = exact_sums(coefficient[mine], amount[mine], number[group[mine]], int(left.sum()))
        size[left] = [round_up(scaled(abs(x), exponent)) if x else 0.0 for x in numbers]
    worst = int(size.argmax())
    if size[worst] == 0:
        return Residual(0.0, -1)
    return Residual(float(size[worst]), worst if equations is None else int(equations[worst]))


class WitnessCheck:
    """One witness, checked once; its claims are then checked for all attackers of a view together."""

    def __init__(self, problem: Problem, witness: Witness) -> None:
        self.problem = problem
        self.system, self.regions, self.pairs = problem.system, problem.regions, problem.pairs
        self.cells, self.move = witness.cells, witness.move
        self.residual = residual(self.system, witness.cells, witness.move)
        self._violations: dict[tuple[int, float], tuple[float, int]] = {}

    @cached_property
    def _everywhere(self) -> np.ndarray:
        out = np.zeros(self.system.cells)
        out[self.cells] = self.move
        return out

    def of(self, claim: Claim) -> Reached:
        pairs = np.concatenate([claim.pairs_up, claim.pairs_down])
        if not len(pairs):
            return Reached(np.empty(0), np.empty(0), 0.0, ["the claim is about no pair"])
        reached = self.claims(claim.step, claim.pairs_up, claim.pairs_down)
        others = pairs[self.pairs.attacker[pairs] != claim.attacker]
        if len(others):
            reached.reasons.append(f"pair {others[0]} is not one of attacker {claim.attacker}")
        return reached

    def claims(self, step: float, up: np.ndarray, down: np.ndarray) -> Reached:
        """The table a + step · move for the attackers of these pairs, whose cells it moves up or down.
        There is at least one pair."""
        step = float(step)
        pairs = np.concatenate([up, down])
        move = self._everywhere[self.pairs.cell[pairs]]
        move[len(up) :] *= -1
        amount = products_down(step, move)
        reasons = []
        if not amount.min() > 0:
            worst = int(amount.argmin())
            reasons.append(
                f"the table does not move the cell of pair {pairs[worst]} {'up' if worst < len(up) else 'down'}"
            )
        level = np.concatenate([self.problem.levels_up[up], self.problem.levels_down[down]])
        attackers, group = _numbered(self.pairs.attacker[pairs], self.regions.attackers)
        least = np.full(len(attackers), level.min() if len(attackers) == 1 else np.inf)
        if len(attackers) > 1:
            np.minimum.at(least, group, level)
        least[np.isinf(least)] = 0.0  # pairs that ask for nothing allow for nothing
        violation, where = self._violation(step, attackers)
        off = np.full(len(attackers), _times(self.residual.largest, abs(step)))
        allowed = TOLERANCE * least
        for i in np.flatnonzero(violation > allowed)[:3].tolist():
            reasons.append(
                f"the table lies {violation[i]:.6g} outside the box of attacker {attackers[i]} in cell {where[i]}"
            )
        if (off > allowed).any():
            reasons.append(f"the table breaks relation {self.residual.equation} by {off[0]:.6g}")
        used = np.maximum(violation, off)
        share = float((used[used > 0] / least[used > 0]).max()) if not reasons and used.any() else 0.0
        return Reached(amount[: len(up)], amount[len(up) :], share, reasons)

    def _violation(self, step: float, attackers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """How far the table is outside each attacker's box, and in which cell most. Cells that the move leaves alone
        count as well: the truth itself must lie in the box."""
        views, group = _numbered(self.regions.view_of[attackers], self.regions.views)
        of_view = [self._view_violation(int(view), step) for view in views]
        out = np.array([far for far, _ in of_view])[group]
        where = np.array([cell for _, cell in of_view], dtype=np.int64)[group]
        known = self.regions.known
        owner, entry = known.of(attackers) if len(known.cell) else (attackers[:0], attackers[:0])
        if len(entry):
            cell = known.cell[entry]
            base, move = self.system.a[cell], self._everywhere[cell]
            far = np.maximum(excess(base, step, move, known.high[entry]), excess(-base, -step, move, -known.low[entry]))
            before = out.copy()
            np.maximum.at(out, owner, far)
            most = (far == out[owner]) & (far > before[owner])
            where[owner[most]] = cell[most]
        return out, where

    def _view_violation(self, view: int, step: float) -> tuple[float, int]:
        key = view, step
        if key not in self._violations:
            low, high = self.regions.low[view, self.cells], self.regions.high[view, self.cells]
            far = excess(self._base, step, self._both, np.concatenate([high, -low]))
            worst = int(far.argmax()) if len(far) else -1
            here = (float(far[worst]), int(self.cells[worst % len(self.cells)])) if worst >= 0 else (0.0, -1)
            far, cell = (x[view] for x in self.problem.outside)
            self._violations[key] = max(here, (float(far), int(cell)))
        return self._violations[key]

    @cached_property
    def _base(self) -> np.ndarray:
        """The truth from above and from below, so that both ends of a box are one comparison."""
        return np.concatenate([self.system.a[self.cells], -self.system.a[self.cells]])

    @cached_property
    def _both(self) -> np.ndarray:
        return np.concatenate([self.move, -self.move])


def _numbered(values: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
    """The different values, and which of them each one is. `most`: values are below it."""
    if not len(values) or (values == values[0]).all():
        return values[:1], np.zeros(len(values), dtype=np.int64)
    if most > 4 * len(values):
        return np.unique(values, return_inverse=True)
    number = np.zeros(most, dtype=np.int64)
    number[values] = 1
    found = np.flatnonzero(number)
    number[found] = np.arange(len(found))
    return found, number[values]


def _times(x: float, y: float) -> float:
    """x · y for numbers ≥ 0, rounded up."""
    return float(np.nextafter(x * y, np.inf)) if x and y else 0.0


DENOMINATORS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 24, 60)
SCALES = sorted({10**digits * d for digits in range(10) for d in DENOMINATORS})


def whole(numbers: np.ndarray, accept: Callable[[np.ndarray], bool] | None = None) -> tuple[np.ndarray, int] | None:
    """Whole numbers below 2^53 and a scale with numbers ≈ whole / scale, the smallest scale that does it.

    Solvers return 0.333333333412 and mean a third. What is near enough to be meant is a guess: 1e-6 of a unit, and for
    large numbers what is left of a solver's 1e-11 of relative precision, but never a twentieth of a unit. `accept` is
    asked of every guess, so that a wrong one does not end the search.
    """
    most = float(np.abs(numbers).max()) if len(numbers) else 0.0
    sample = numbers[:: max(len(numbers) // 16, 1)]
    likely = _near(sample[:, None] * np.array(SCALES, dtype=float)).all(axis=0)
    for scale in (SCALES[i] for i in np.flatnonzero(likely)):
        if not most * scale < 2.0**53:
            return None
        if _near(numbers * scale).all():
            out = np.rint(numbers * scale) + 0.0
            if accept is None or accept(out):
                return out, scale
    return None


def _near(x: np.ndarray) -> np.ndarray:
    return np.abs(x - np.rint(x)) <= np.minimum(1e-6 + 1e-11 * np.abs(x), 0.05)


def snapped(move: np.ndarray, accept: Callable[[np.ndarray], bool] | None = None) -> tuple[np.ndarray, float] | None:
    """The move as whole numbers without a common divisor, and the step that gives back its size. Whether they satisfy
    the relations is for the checker, or for `accept`, to say."""
    found = whole(move, accept)
    if found is None or not found[0].any():
        return None
    numbers, scale = found
    divisor = int(np.gcd.reduce(numbers.astype(np.int64)))
    return numbers / divisor, divisor / scale
