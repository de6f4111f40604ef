"""Bounds: why no table that an attacker thinks possible drives a cell far enough.

For multipliers γ and c = e_p - Mᵀγ every d with M d = 0 has d_p = Σ c_i d_i, and so

    d_p ≤ Σ_i max(c_i (low_i - a_i), c_i (high_i - a_i))

for every table in the box, whatever a solver thought. How far d_p can go down is the same with -c for c.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from sdcdsl.proof.exact import TOLERANCE, exact_sums, round_up, scaled, sums
from sdcdsl.proof.system import Problem, System
from sdcdsl.proof.witness import whole


def _nobody() -> np.ndarray:
    return np.zeros(0, dtype=np.int64)


# Multipliers that are looked at one by one, their denominators, the common one, and how near is near.
MANY, SIMPLE, LARGEST, NEAR = 200, 1000, 10**9, 1e-9


@dataclass(frozen=True, eq=False)
class Bound:
    """For one attacker and its own box; or, with `also`, for several attackers of one view, and the box of the view."""

    pair: int
    up: bool
    equations: np.ndarray  # int64
    gamma: np.ndarray  # float64: the multipliers times the denominator; whole numbers wherever possible
    denominator: int = 1
    also: np.ndarray = field(default_factory=_nobody)  # int64, ascending: further pairs about the same cell

    @property
    def pairs(self) -> np.ndarray:
        return np.append(self.also, self.pair)


@dataclass(frozen=True, eq=False)
class _Combination:
    """denominator · c in the cells where it is not zero: with its error, and what it is made of."""

    cells: np.ndarray
    value: np.ndarray
    error: np.ndarray
    x: np.ndarray
    y: np.ndarray
    group: np.ndarray


def reach(problem: Problem, bound: Bound) -> float:
    """How far the cell of the pair can go at most, up or down; never below the exact value of the formula.

    Floating point with its error bound does, unless the level that the pair asks for lies within the error: then the
    exact value decides.
    """
    system, pairs = problem.system, problem.pairs
    made = _combination(system, int(pairs.cell[bound.pair]), bound)
    attacker = int(pairs.attacker[bound.pair])
    if len(bound.also):
        view = problem.regions.view_of[attacker]
        low, high = problem.regions.low[view, made.cells], problem.regions.high[view, made.cells]
    else:
        low, high = problem.regions.box(attacker, made.cells)
    edge = np.where((made.value > 0) == bound.up, high, low)
    if np.isinf(edge).any():
        return math.inf
    a = system.a[made.cells]
    with np.errstate(over="ignore", invalid="ignore"):
        room = edge - a
        terms = made.value * room if bound.up else -made.value * room
        total = float(terms.sum())
        error = float(2.0**-52 * (len(terms) + 4) * np.abs(terms).sum() + (2 * made.error * np.abs(room)).sum())
        error += len(terms) * 2.0**-1070
    upper, lower = (total + error) / bound.denominator, (total - error) / bound.denominator
    upper += 2.0**-50 * abs(upper)
    wanted = float(pairs.level(bound.up)[bound.pair]) * (1 - TOLERANCE)
    if math.isfinite(upper) and not lower - 2.0**-50 * abs(lower) < wanted <= upper:
        return upper
    return round_up(_exactly(made, a, edge, bound))


def _combination(system: System, cell: int, bound: Bound) -> _Combination:
    at, cell_of, coefficient = system.by_equation.of(bound.equations)
    cells, group = np.unique(np.append(cell_of, cell), return_inverse=True)
    x, y = np.append(coefficient, 1.0), np.append(-bound.gamma[at], float(bound.denominator))
    value, error = sums(x, y, group, len(cells))
    left = (error > 0) & ~(np.abs(value) > error)
    if left.any():  # the sign is open, and decides between the ends of the box
        mine = left[group]
        number = np.cumsum(left) - 1
        numbers, exponent = exact_sums(x[mine], y[mine], number[group[mine]], int(left.sum()))
        value[left] = [_away_from_zero(scaled(n, exponent)) if n else 0.0 for n in numbers]
        error[left] = 2.0**-52 * np.abs(value[left]) + 2.0**-1070
    some = value != 0
    number = np.cumsum(some) - 1
    inside = some[group]
    return _Combination(cells[some], value[some], error[some], x[inside], y[inside], number[group[inside]])


def _away_from_zero(x: Fraction) -> float:
    return round_up(x) if x > 0 else -round_up(-x)


def _exactly(made: _Combination, a: np.ndarray, edge: np.ndarray, bound: Bound) -> Fraction:
    numbers, exponent = exact_sums(made.x, made.y, made.group, len(made.cells))
    total = Fraction(0)
    for number, at, end in zip(numbers, a.tolist(), edge.tolist(), strict=True):
        total += number * (Fraction(end) - Fraction(at))
    return scaled(1, exponent) * (total if bound.up else -total) / bound.denominator


def rational(gamma: np.ndarray) -> tuple[np.ndarray, int] | None:
    """Multipliers as whole numbers over one denominator."""
    found = whole(gamma) or _over_common_denominator(gamma)
    if found is None:
        return None
    numbers, scale = found
    divisor = math.gcd(scale, int(np.gcd.reduce(numbers.astype(np.int64)))) if len(numbers) else scale
    return numbers / divisor, scale // divisor


def _over_common_denominator(gamma: np.ndarray) -> tuple[np.ndarray, int] | None:
    """The same for fractions that are simple each by itself: sevenths, where relations have odd coefficients."""
    if len(gamma) > MANY:
        return None
    common = 1
    for value in gamma.tolist():
        near = Fraction(value).limit_denominator(SIMPLE)
        if abs(float(near) - value) > NEAR * max(1.0, abs(value)):
            return None
        common = math.lcm(common, near.denominator)
        if common > LARGEST:
            return None
    return np.rint(gamma * common) + 0.0, common
