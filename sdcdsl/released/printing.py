"""What a figure looks like in print, and what then is said about its cell.

    published as it is       as the source has it: sums of 0.1 and 0.2 print 0.3
    changed                  eleven digits, or all decimals of the source where these are more
    the ends of an interval  the same, rounded outwards: a release may say less than was audited, never more. An end
                             that is off by the noise of floating point alone is not moved by a digit, as long as
                             that noise is nothing to the lowest level (it is, in a cell of 10¹⁰ beside a level of 1)

A sum of printed figures then differs from its total by less than a share of 10⁻¹⁰ of its terms, ten times less than an
audit allows. No sensitive cell of an adjusted table is brought nearer to its true value than its level by printing it.

`decimals` prints fewer. A published figure is then rounded for display, which is audited as if all digits were there. A
table adjusted without a word about it keeps its digits: its figures must add up and keep their distance, and figures
with fewer digits among others would be those that nobody changed.
"""

from __future__ import annotations

from dataclasses import replace
from math import floor, inf, log10

import numpy as np

from sdcdsl.bind.problem import TableProblem
from sdcdsl.pattern import Pattern
from sdcdsl.pattern.pattern import CHANGED, EXACT
from sdcdsl.released.closeness import MOST_DECIMALS, decimals_of

DIGITS = 11
SOURCE_DIGITS = 15  # that a number of the source can have and still read back as the same
NOISE = 1e-12  # of a figure: what floating point may have added to it
LEVEL_WITHIN = 1e-9  # of a level: what audits allow
LEVEL_NOISE = 1e-11  # of the lowest level: what the ends of an interval may lose, many of them together


def as_printed(problem: TableProblem, pattern: Pattern, decimals: int | None = None) -> Pattern:
    """The pattern with the figures that a file shows."""
    d = problem.dataset
    least = min(decimals_of(d["a"].values[d["published"].values]), MOST_DECIMALS)
    if not pattern.claims:
        decimals = None
    exact = (pattern.status == EXACT) & (pattern.value == pattern.low) & (pattern.low == pattern.high)
    kept = (pattern.status == EXACT) & ~pattern.claims & (pattern.value == d["a"].values)
    as_it_is = exact | kept
    value = np.where(as_it_is, _source(pattern.value, as_it_is, least, decimals), pattern.value)
    value = np.where(as_it_is, value, _rounded(pattern.value, ~as_it_is, least, decimals))
    if not pattern.claims:
        value = _kept_away(problem, pattern, value, least)
    noise = LEVEL_NOISE * _lowest_level(problem)
    low = np.where(exact, value, _rounded(pattern.low, ~exact, least, decimals, -1, noise))
    high = np.where(exact, value, _rounded(pattern.high, ~exact, least, decimals, 1, noise))
    # A figure without tolerance around it keeps having none.
    point = ~exact & (pattern.low == pattern.high) & (pattern.status == CHANGED)
    return replace(
        pattern, value=value, low=np.where(point, value, low), high=np.where(point, value, high), about=pattern.about
    )


def _source(x: np.ndarray, where: np.ndarray, least: int, decimals: int | None) -> np.ndarray:
    """Without what floating point added to sums, as far as that is all that goes."""
    out = x.copy()
    for i in _odd(x, where):
        value = float(x[i])
        if decimals is not None and decimals < least:
            out[i] = round(value, decimals)
            continue
        short = round(value, least)
        out[i] = short if abs(short - value) <= NOISE * abs(value) else float(f"{value:.{SOURCE_DIGITS}g}")
    return out


def _lowest_level(problem: TableProblem) -> float:
    d = problem.dataset
    levels = np.concatenate([d[name].values for name in ("lpl", "upl", "spl") if name in d] or [np.zeros(0)])
    return float(levels.min(where=levels > 0, initial=inf))


def _rounded(
    x: np.ndarray, where: np.ndarray, least: int, decimals: int | None, outwards: int = 0, noise: float = inf
) -> np.ndarray:
    """To the nearest figure, or downwards (-1) or upwards (1) unless only noise lies between."""
    out = x.copy()
    for i in _odd(x, where):
        value = float(x[i])
        out[i] = _printed(value, _places(value, least, decimals), outwards, noise)
    return out


def _printed(value: float, places: int, outwards: int, noise: float) -> float:
    near = round(value, places)
    if outwards and (near - value) * outwards < -min(NOISE * abs(value), noise):
        near = round(near + outwards * 10.0**-places, places)
    return near


def _places(value: float, least: int, decimals: int | None) -> int:
    digits = max(least, DIGITS - 1 - floor(log10(abs(value))))
    return digits if decimals is None else min(digits, decimals)


def _odd(x: np.ndarray, where: np.ndarray) -> list[int]:
    """Only these have digits to lose."""
    with np.errstate(invalid="ignore"):
        return np.flatnonzero(where & np.isfinite(x) & (np.rint(x) != x)).tolist()


def _kept_away(problem: TableProblem, pattern: Pattern, value: np.ndarray, least: int) -> np.ndarray:
    """Rounded away from the truth where the nearest figure would be nearer to it than a level."""
    d = problem.dataset
    if "cell_at" not in d:
        return value
    at, a = d["cell_at"].values, d["a"].values
    before, after = (x[at] - a[at] for x in (pattern.value, value))
    level = np.where(before > 0, d["upl"].values, d["lpl"].values)
    far, still = (np.abs(move) >= level * (1 - LEVEL_WITHIN) for move in (before, after))
    out = value.copy()
    for i in np.unique(at[far & ~still]).tolist():
        v = float(pattern.value[i])
        near = round(v, _places(v, least, None))
        step = 10.0 ** -_places(v, least, None)
        out[i] = round(near + (step if v > a[i] else -step), _places(v, least, None))
    return out
