"""The end of an interval, proved from both sides: a table that gets there, and multipliers that let none go further.

A table counts if it breaks no relation and no bound by more than `ATTAINED` of the distance that it shows. What
multipliers show holds without a tolerance (`bound`). An end is exact where the two meet: they differ by no more than
`MEETS` of the distance from the true value, or by what a double cannot tell at the size of that value.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from sdcdsl.proof.bound import Bound, rational, reaches, rounded
from sdcdsl.proof.rational_guess import snapped
from sdcdsl.proof.system import ProofProblem
from sdcdsl.proof.witness import Witness, Witnesses, residual

ATTAINED = 1e-12
MEETS = 1e-9
LAST_DIGITS = 2.0**-50  # of the true value
BITS = 49  # of multipliers: a cell may be in 16 relations before sums are no longer exact


def meet(least: np.ndarray, most: np.ndarray, value: np.ndarray) -> np.ndarray:
    """Whether the end is exact, with a table at `least` and no table beyond `most`, as distances from the value."""
    with np.errstate(invalid="ignore"):
        close = most - least <= MEETS * most + LAST_DIGITS * np.abs(value)
    return (close & (most < np.inf)) | (least == np.inf)


def attained(
    problem: ProofProblem, witnesses: Sequence[Witness], which: np.ndarray, step: np.ndarray, pair: np.ndarray
) -> np.ndarray:
    """How far the tables a + step · move take the cells of the pairs; 0 where one is no table its attacker thinks
    possible. Moves that are nearly whole numbers are tried as such where they do not hold as they are."""
    if not len(pair):
        return np.zeros(0)
    made = Witnesses(problem, witnesses)
    far, broken = _far(problem, made, which, step, pair)
    out = np.where(broken <= ATTAINED * far, far, 0.0)
    failed = out == 0
    for number in np.unique(which[failed]).tolist():
        mine = failed & (which == number)
        again = _whole(problem, witnesses[int(number)])
        if again is not None:
            far, broken = _far(problem, again[0], which[mine] * 0, step[mine] * again[1], pair[mine])
            out[mine] = np.where(broken <= ATTAINED * far, far, 0.0)
    return out


def unending(problem: ProofProblem, ray: Witness, way: float, pair: int) -> bool:
    """Whether the cell of the pair goes as far as one likes: a move in whole numbers that keeps all relations and meets
    no bound."""
    found = _whole(problem, ray)
    if found is None or found[0].residuals.largest[0] > 0:
        return False
    low, high = problem.regions.box(int(problem.pairs.attacker[pair]), ray.cells)
    move = way * found[0].moves.move
    free = np.where(move > 0, high, np.where(move < 0, -low, np.inf))
    return bool(np.isinf(free).all() and move[ray.cells == problem.pairs.cell[pair]].any())


def limits(
    problem: ProofProblem,
    reasons: Sequence[tuple[int, bool, np.ndarray, np.ndarray]],
    least: np.ndarray,
    value: np.ndarray,
) -> np.ndarray:
    """How far pairs go at most: (pair, up, equations, multipliers). Multipliers are tried in several forms until the
    limit meets what a table attains, `least`."""
    out = np.full(len(reasons), np.inf)
    forms = [_forms(*reason) for reason in reasons]
    left = list(range(len(reasons)))
    while left:
        tried = [(i, bound) for i in left if (bound := next(forms[i], None)) is not None]
        if not tried:
            break
        at = np.array([i for i, _ in tried])
        out[at] = np.minimum(out[at], reaches(problem, [bound for _, bound in tried]))
        left = at[~meet(least[at], out[at], value[at])].tolist()
    return out


def _forms(pair: int, up: bool, equations: np.ndarray, gamma: np.ndarray) -> Iterator[Bound]:
    """As small fractions, if that is what they are; rounded to whole numbers, whose sums are exact and quick."""
    exact = rational(gamma) if len(gamma) else (gamma, 1)
    for numbers, denominator in ([exact] if exact is not None else []) + [rounded(gamma, BITS)]:
        used = np.flatnonzero(numbers)
        yield Bound(pair, up, equations[used], numbers[used], denominator)


def _far(
    problem: ProofProblem, made: Witnesses, which: np.ndarray, step: np.ndarray, pair: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """How far each table takes its cell, and by how much it breaks a relation or a bound."""
    far = np.abs(step * made.moves.at(which, problem.pairs.cell[pair]))
    return far, made.broken(which, step, problem.pairs.attacker[pair])


def _whole(problem: ProofProblem, witness: Witness) -> tuple[Witnesses, float] | None:
    """The move in whole numbers that keep all relations, and the step that gives back its size."""
    found = snapped(
        witness.move, lambda numbers: residual(problem.system, Witness(witness.cells, numbers)).largest[0] == 0
    )
    if found is None:
        return None
    return Witnesses(problem, [Witness(witness.cells, found[0])]), found[1]
