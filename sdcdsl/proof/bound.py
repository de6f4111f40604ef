"""Bounds: why no table that an attacker thinks possible drives a cell far enough.

For multipliers γ and c = e_p - Mᵀγ every d with M d = 0 has d_p = Σ c_i d_i, and so

    d_p ≤ Σ_i max(c_i (low_i - a_i), c_i (high_i - a_i))

for every table in the box, whatever a solver thought. How far d_p can go down is the same with -c for c.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from sdcdsl.proof.exact import TOLERANCE, exact_sums, round_up, rounded_sums, scaled, sums
from sdcdsl.proof.rational_guess import whole
from sdcdsl.proof.system import ProofProblem, System


def _nobody() -> np.ndarray:
    return np.zeros(0, dtype=np.int64)


BITS = 20, 40  # of multipliers that are no small fractions, in the order they are tried
# Multipliers that are looked at one by one, their denominators, the common one, and how near is near.
MANY, SIMPLE, LARGEST, NEAR = 200, 1000, 10**9, 1e-9
AT_ONCE = 2**18  # entries of relations that are added up at a time


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
class _Combinations:
    """denominator · c of several bounds, in the cells where it is not zero: with its error, and what it is made of."""

    bound: np.ndarray  # int64, ascending
    cell: np.ndarray
    value: np.ndarray
    error: np.ndarray
    x: np.ndarray
    y: np.ndarray
    group: np.ndarray  # which of the above each product belongs to


def reach(problem: ProofProblem, bound: Bound) -> float:
    """How far the cell of the pair can go at most, up or down; never below the exact value of the formula."""
    return float(reaches(problem, [bound])[0])


def reaches(problem: ProofProblem, bounds: Sequence[Bound]) -> np.ndarray:
    """The same of many bounds. Whole multipliers by themselves: their sums have no errors, beside others they would."""
    out = np.empty(len(bounds))
    size = [int(problem.system.by_equation.count[bound.equations].sum()) + 1 for bound in bounds]
    plain = [bool((bound.gamma == np.rint(bound.gamma)).all()) for bound in bounds]
    for kind in (True, False):
        for batch in _batches([i for i in range(len(bounds)) if plain[i] == kind], size):
            out[batch] = _stacked(problem, [bounds[j] for j in batch])
    return out


def _batches(chosen: list[int], size: list[int]) -> Iterator[list[int]]:
    """As many as have AT_ONCE entries together; one that has more comes by itself."""
    batch, total = list[int](), 0
    for i in chosen:
        if batch and total + size[i] > AT_ONCE:
            yield batch
            batch, total = list[int](), 0
        batch.append(i)
        total += size[i]
    if batch:
        yield batch


def _stacked(problem: ProofProblem, bounds: list[Bound]) -> np.ndarray:
    """Floating point with its error bound does, unless the level that the pair requires lies within the error: then the
    exact value decides."""
    system, pairs = problem.system, problem.pairs
    pair, up = np.array([b.pair for b in bounds]), np.array([b.up for b in bounds])
    made = _combinations(system, pairs.cell[pair], bounds)
    of, at_least = made.bound, np.array([len(b.also) > 0 for b in bounds])
    low, high = problem.regions.boxes(pairs.attacker[pair], at_least, of, made.cell)
    edge = np.where((made.value > 0) == up[of], high, low)
    a, open_end = system.a[made.cell], np.isinf(edge)
    edge[open_end] = a[open_end]
    count = np.bincount(of, minlength=len(bounds))
    with np.errstate(over="ignore", invalid="ignore"):
        slack = edge - a
        terms = np.where(up[of], made.value, -made.value) * slack
        total, size = (np.bincount(of, x, len(bounds)) for x in (terms, np.abs(terms)))
        error = 2.0**-52 * (count + 4) * size + np.bincount(of, 2 * made.error * np.abs(slack), len(bounds))
        error += count * 2.0**-1070
        denominator = np.array([float(b.denominator) for b in bounds])
        upper, lower = (total + error) / denominator, (total - error) / denominator
        upper += 2.0**-50 * np.abs(upper)
        lower -= 2.0**-50 * np.abs(lower)
    upper[of[open_end]] = np.inf
    required = np.where(up, pairs.upl[pair], pairs.lpl[pair]) * (1 - TOLERANCE)
    hairline = ~(np.isfinite(upper) & ~((lower < required) & (required <= upper)))
    hairline[of[open_end]] = False
    for i in np.flatnonzero(hairline).tolist():
        upper[i] = round_up(_exactly(made, a, edge, i, bounds[i]))
    return upper


def _combinations(system: System, cells: np.ndarray, bounds: list[Bound]) -> _Combinations:
    owner = np.repeat(np.arange(len(bounds)), [len(b.equations) for b in bounds])
    at, cell_of, coefficient = system.by_equation.of(np.concatenate([b.equations for b in bounds]))
    group = np.concatenate([owner[at] * system.cells + cell_of, np.arange(len(bounds)) * system.cells + cells])
    if 8 * len(group) < len(bounds) * system.cells:
        place, group = np.unique(group, return_inverse=True)
    else:
        place = np.arange(len(bounds) * system.cells)
    x = np.concatenate([coefficient, np.ones(len(bounds))])
    gamma = np.concatenate([b.gamma for b in bounds])
    y = np.concatenate([-gamma[at], [float(b.denominator) for b in bounds]])
    value, error = sums(x, y, group, len(place))
    left = (error > 0) & ~(np.abs(value) > error)
    if left.any():  # the sign is open, and decides between the ends of the box
        mine = left[group]
        number = np.cumsum(left) - 1
        value[left] = rounded_sums(x[mine], y[mine], number[group[mine]], int(left.sum()), _away_from_zero)
        error[left] = 2.0**-52 * np.abs(value[left]) + 2.0**-1070
    some = value != 0
    number = np.cumsum(some) - 1
    inside = some[group]
    bound, cell = np.divmod(place[some], max(system.cells, 1))
    return _Combinations(bound, cell, value[some], error[some], x[inside], y[inside], number[group[inside]])


def _away_from_zero(x: Fraction) -> float:
    return round_up(x) if x > 0 else -round_up(-x)


def _exactly(made: _Combinations, a: np.ndarray, edge: np.ndarray, which: int, bound: Bound) -> Fraction:
    span = slice(*np.searchsorted(made.bound, [which, which + 1]))
    mine = (made.group >= span.start) & (made.group < span.stop)
    groups = span.stop - span.start
    numbers, exponent = exact_sums(made.x[mine], made.y[mine], made.group[mine] - span.start, groups)
    total = Fraction(0)
    for number, at, end in zip(numbers, a[span].tolist(), edge[span].tolist(), strict=True):
        total += number * (Fraction(end) - Fraction(at))
    return scaled(1, exponent) * (total if bound.up else -total) / bound.denominator


def candidates(gamma: np.ndarray) -> Iterator[tuple[np.ndarray, int]]:
    """The multipliers as small fractions, if that is what they are; rounded, roughly and less so; and as they came."""
    exact = rational(gamma) if len(gamma) else None
    if exact is not None:
        yield exact
    elif len(gamma):
        yield from (rounded(gamma, bits) for bits in BITS)
    yield gamma, 1


def rounded(gamma: np.ndarray, bits: int) -> tuple[np.ndarray, int]:
    """Multipliers as whole numbers of so many bits over a power of two. Any multipliers give a valid bound; with these
    its sums are exact, and a bound that is not needed to the last digit is as good."""
    exponent = bits - int(np.frexp(np.abs(gamma).max(initial=0.0))[1])
    exponent = min(max(exponent, 0), 52)
    return np.rint(np.ldexp(gamma, exponent)) + 0.0, 1 << exponent


def rational(gamma: np.ndarray) -> tuple[np.ndarray, int] | None:
    """Multipliers as whole numbers over one denominator."""
    if (gamma == np.rint(gamma)).all() and np.abs(gamma).max(initial=0.0) < LARGEST:
        return gamma + 0.0, 1
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
