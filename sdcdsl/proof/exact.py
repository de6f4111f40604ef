"""Comparisons that are right, at the speed of floating point.

Every number is an IEEE double, and so an exact rational number. Each function computes in floating point together with
a bound of the error it may have made, and goes back to whole-number or `Fraction` arithmetic only for what the bound
leaves open. Results are rounded to the side that makes a proof harder.

Error bounds: with u = 2^-53 one operation has a relative error of at most u, or an absolute one of 2^-1075 where a
product is smaller than the normal range; adding up k terms in order has at most (k - 1) u Σ|terms| to first order. All
bounds below take 2u for u, which covers the terms of higher order and the errors of the bounds themselves. Infinities
and NaN that overflow leaves behind are never decided by the filter: comparisons with NaN are false.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

# How far a proof may fall short, as a share of the level that is claimed. Data with decimals are not exact as binary
# fractions: a table that should touch a bound at 0.3 misses it in the 17th digit, and sums of a million such terms in
# the 10th. 1e-9 stands well above that, and so far below any level that nothing of statistical meaning fits into it.
TOLERANCE = 1e-9

Numbers = float | np.ndarray  # one for all, or one each

_2U = 2.0**-52
_TINY = 2.0**-1070  # more than the absolute errors of a few products below the normal range
_LOWEST_BIT = -1074  # of any double
_WHOLE = 2.0**53  # whole numbers up to here are doubles
_FEW = 32
_PIECE = 2**16


def sums(x: np.ndarray, y: np.ndarray, group: np.ndarray, groups: int) -> tuple[np.ndarray, np.ndarray]:
    """Σ x·y in each group, and how far each sum may be from the truth: 0 where the arithmetic was exact.

    It is exact if all products are multiples of one 2^q and their absolute sum stays below 2^(q+53): then every product
    and every partial sum is a double. Whole numbers are the usual case.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        terms = x * y
        value = np.bincount(group, terms, groups)
        size = np.bincount(group, np.abs(terms), groups)
        most = float(size.max()) if groups else 0.0
        # A few numbers often tell that the sums are not exact: all of them have no higher bit in common.
        for some in (slice(_FEW), slice(None)) if len(x) > _FEW else (slice(None),):
            bit = _lowest_bit(x[some]) + _lowest_bit(y[some])
            if not (bit >= _LOWEST_BIT and most < math.ldexp(1.0, bit + 53)):
                break
        else:
            return value, np.zeros(groups)
        count = np.bincount(group, minlength=groups)
        return value, (count + 2) * _2U * size + count * _TINY


def _lowest_bit(x: np.ndarray) -> int:
    """q such that every number in x is a multiple of 2^q."""
    if (np.rint(x) == x).all():
        return 0
    mantissa, exponent = _whole_parts(x[x != 0])
    bit = np.frexp((mantissa & -mantissa).astype(np.float64))[1] - 1
    return int((exponent + bit).min())


def _whole_parts(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """m and e with x = m · 2^e, both whole."""
    mantissa, exponent = np.frexp(x)
    return (mantissa * _WHOLE).astype(np.int64), exponent.astype(np.int64) - 53


def exact_sums(x: np.ndarray, y: np.ndarray, group: np.ndarray, groups: int) -> tuple[list[int], int]:
    """Σ x·y in each group as whole numbers times one power of two: (numbers, exponent)."""
    (m, e), (n, f) = _whole_parts(x), _whole_parts(y)
    e = e + f
    lowest = int(e.min()) if len(e) else 0
    out = [0] * groups
    for i in range(0, len(group), _PIECE):  # numbers of Python take ten times as much memory
        piece = slice(i, i + _PIECE)
        shifts = (e[piece] - lowest).tolist()
        for g, p, q, shift in zip(group[piece].tolist(), m[piece].tolist(), n[piece].tolist(), shifts, strict=True):
            out[g] += (p * q) << shift
    return out, lowest


def rounded_sums(
    x: np.ndarray, y: np.ndarray, group: np.ndarray, groups: int, rounding: Callable[[Fraction], float]
) -> np.ndarray:
    """The same as doubles, each rounded from its exact value. Some groups at a time: an exact sum may have thousands of
    digits."""
    out = np.zeros(groups)
    for first in range(0, groups, _PIECE):
        last = min(first + _PIECE, groups)
        mine = (group >= first) & (group < last) if groups > _PIECE else slice(None)
        numbers, exponent = exact_sums(x[mine], y[mine], group[mine] - first, last - first)
        out[first:last] = [rounding(scaled(number, exponent)) if number else 0.0 for number in numbers]
    return out


def scaled(number: int, exponent: int) -> Fraction:
    return Fraction(number << exponent) if exponent >= 0 else Fraction(number, 1 << -exponent)


def round_up(x: Fraction) -> float:
    """The smallest double that is not below x."""
    try:
        near = float(x)
    except OverflowError:
        return math.inf if x > 0 else -_LARGEST
    return math.nextafter(near, math.inf) if Fraction(near) < x else near


def round_down(x: Fraction) -> float:
    return -round_up(-x)


_LARGEST = float(np.finfo(np.float64).max)


def excess(base: np.ndarray, step: Numbers, move: np.ndarray, edge: np.ndarray) -> np.ndarray:
    """By how much base + step · move lies above `edge`: 0 exactly where it does not, and otherwise a number that is not
    below the true amount. `edge` may be infinite, everything else is finite."""
    with np.errstate(all="ignore"):
        product = step * move
        table = base + product
        over = table - edge
        error = _2U * (np.abs(product) + np.abs(table) + np.abs(over)) + _TINY
        above = over > error
        out = np.where(above, over + error, 0.0)
        left = (~(above | (over < -error) | (edge == np.inf))).nonzero()[0]
    if len(left):
        out[left] = _close_excess(base[left], _of(step, left), move[left], edge[left])
    return out


def outside(base: np.ndarray, step: Numbers, move: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """By how much base + step · move lies outside low … high, as `excess` says it."""
    out = np.zeros(len(base))
    if not len(base):
        return out
    with np.errstate(all="ignore"):
        product = step * move
        table = base + product
        # The error that `excess` allows for, at its largest: nearly all cells are clearly inside.
        error = 2 * (_2U * (_largest(product) + _largest(table)) + _TINY)
        near = (~((table - high < -error) & (low - table < -error))).nonzero()[0]
    if len(near):
        base, step, move = base[near], _of(step, near), move[near]
        out[near] = np.maximum(excess(base, step, move, high[near]), excess(-base, step, -move, -low[near]))
    return out


def _largest(x: np.ndarray) -> float:
    return max(float(x.max()), -float(x.min()))


def _of(step: Numbers, at: np.ndarray | int) -> Numbers:
    return step[at] if isinstance(step, np.ndarray) else step


def _close_excess(base: np.ndarray, step: Numbers, move: np.ndarray, edge: np.ndarray) -> np.ndarray:
    """The same where the first filter left it open. Whole numbers need no filter. For others, product and sums are kept
    as value plus error, without loss:

    base + step·move - edge = difference + rests, exactly; only the three rests are added up with rounding.
    """
    with np.errstate(all="ignore"):
        product = step * move
        if _all_whole(step, move, product) and _all_whole(0.0, base, edge):
            return np.maximum(base + product - edge, 0.0)
        product, rest, safe = _two_product(step, move)
        table, rest_of_table = _two_sum(base, product)
        difference, rest_of_difference = _two_sum(table, -edge)
        inner = rest + rest_of_table
        rests = inner + rest_of_difference
        over = difference + rests
        error = _2U * 2 * (np.abs(inner) + np.abs(rests))
        above = safe & (over > error)
        not_above = safe & ((over < -error) | ((over == 0) & (error == 0)))
        out = np.where(above, over + error + _2U * over, 0.0)
    for i in np.flatnonzero(~(above | not_above)).tolist():
        if math.isinf(edge[i]):
            out[i] = 0.0 if edge[i] > 0 else math.inf
            continue
        each = float(_of(step, i))
        true = Fraction(float(base[i])) + Fraction(each) * Fraction(float(move[i])) - Fraction(float(edge[i]))
        out[i] = max(round_up(true), 0.0)
    return out


def _all_whole(x: Numbers, y: np.ndarray, z: np.ndarray) -> bool:
    """Whole numbers, and so far below 2^53 that their sums and differences are exact."""
    most = _WHOLE / 8
    return bool(
        (np.rint(x) == x).all()
        and (np.rint(y) == y).all()
        and (np.rint(z) == z).all()
        and max(np.abs(y).max(), np.abs(z).max()) < most
    )


def products_down(step: Numbers, move: np.ndarray) -> np.ndarray:
    """step · move, rounded down to a double: at least a level, which is a double, exactly when the product is."""
    with np.errstate(all="ignore"):
        product = step * move
        if not len(move) or _all_whole(step, move, product):
            return product
        product, rest, safe = _two_product(step, move)
        out = np.where(rest < 0, np.nextafter(product, -np.inf), product)
    for i in np.flatnonzero(~safe).tolist():
        out[i] = round_down(Fraction(float(_of(step, i))) * Fraction(float(move[i])))
    return out


def _two_sum(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Knuth: x + y = sum + rest without error."""
    total = x + y
    part = total - x
    return total, (x - (total - part)) + (y - part)


def _two_product(x: Numbers, y: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Dekker: x · y = product + rest without error wherever `safe`, which is away from both ends of the exponents."""
    product = x * y
    x_high, x_low = _split(np.asarray(x, dtype=np.float64))
    y_high, y_low = _split(y)
    rest = ((x_high * y_high - product) + x_high * y_low + x_low * y_high) + x_low * y_low
    size = np.abs(product)
    nothing = (y == 0) | (x == 0)
    safe = nothing | ((size > 2.0**-900) & np.isfinite(rest))
    return product, np.where(nothing, 0.0, rest), safe


def _split(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Two halves of 26 bits."""
    big = x * 134217729.0  # 2^27 + 1
    high = big - (big - x)
    return high, x - high
