"""exact.py against Fraction arithmetic, on numbers chosen to be hard: ties, near ties, cancellation, both ends of the
range of doubles."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sdcdsl.proof.exact import exact_sums, excess, products_down, round_down, round_up, scaled, sums

any_double = st.floats(allow_nan=False, allow_infinity=False)
decimal = st.integers(-(10**6), 10**6).map(lambda n: n / 100)
whole = st.integers(-(2**53), 2**53).map(float)
small = st.integers(-20, 20).map(float)
double = st.one_of(small, decimal, whole, any_double)


def near(x: Fraction, ulps: int) -> float:
    """The double nearest to x, moved by a few units in the last place."""
    try:
        out = float(x)
    except OverflowError:
        return 1.7976931348623157e308 if x > 0 else -1.7976931348623157e308
    for _ in range(abs(ulps)):
        out = math.nextafter(out, math.copysign(math.inf, ulps))
    return out if math.isfinite(out) else 1.0


@given(double, double, double, st.integers(-2, 2), double, st.booleans())
@example(0.3, 0.1, -3.0, 0, 0.0, False)  # 0.3 - 3 · 0.1 is below zero by less than an ulp
@example(1e308, 2.0, 1e308, 0, 1e308, False)
@example(5e-324, 0.5, 5e-324, 0, 5e-324, False)
@settings(max_examples=400)
def test_excess_is_zero_exactly_when_it_is(base, step, move, ulps, other, tie):
    true = Fraction(base) + Fraction(step) * Fraction(move)
    edge = near(true, ulps) if tie else other
    (got,) = excess(np.array([base]), step, np.array([move]), np.array([edge]))
    over = true - Fraction(edge)
    assert (got == 0) == (over <= 0)
    if over > 0:
        assert got == math.inf or Fraction(float(got)) >= over
        # Not below the truth, and hardly above it.
        size = max(abs(Fraction(base)), abs(Fraction(step) * Fraction(move)), abs(Fraction(edge)))
        allowed = over + size / 10**14 + Fraction(1, 10**300)
        assert Fraction(float(got)) <= allowed if math.isfinite(got) else allowed > Fraction(1.7e308)


def test_excess_at_infinite_edges():
    base, move = np.array([1.0, 1.0]), np.array([1.0, 1.0])
    assert excess(base, 1e300, move, np.array([np.inf, -np.inf])).tolist() == [0.0, math.inf]
    assert excess(base, 1e308, move * 100, np.array([np.inf, -np.inf])).tolist() == [0.0, math.inf]


@given(double, double, st.integers(-1, 1))
@example(1e-200, 1e-200, 0)
@example(0.1, 3.0, 0)
@example(1e200, 1e200, 0)
@settings(max_examples=400)
def test_products_compare_with_a_level_as_the_truth_does(step, move, ulps):
    true = Fraction(step) * Fraction(move)
    (got,) = products_down(step, np.array([move]))
    assert got == -math.inf or Fraction(float(got)) <= true
    level = near(true, ulps)
    assert (got >= level) == (true >= Fraction(level))


terms = st.lists(st.tuples(double, double, st.integers(0, 2)), min_size=1, max_size=12)


@given(terms)
@example([(1.0, 2.0**53, 0), (1.0, 1.0, 0), (-1.0, 2.0**53, 0)])
@example([(0.1, 3.0, 0), (-0.3, 1.0, 0)])
@example([(1e200, 1e200, 0), (-1e200, 1e200, 0), (1.0, 1.0, 1)])
@example([(1e-200, 1e-200, 0)])
@example([(2.0**-550, 2.0**-550, 0)])  # one bit each, and no double holds the product
@settings(max_examples=400)
def test_sums_are_within_their_error(rows):
    x, y, group = (np.array(column) for column in zip(*rows, strict=True))
    true = [Fraction(0)] * 3
    for p, q, g in rows:
        true[g] += Fraction(p) * Fraction(q)
    value, error = sums(x, y, group, 3)
    for g in range(3):
        if math.isfinite(value[g]) and math.isfinite(error[g]):
            assert abs(Fraction(float(value[g])) - true[g]) <= Fraction(float(error[g]))
        else:
            assert not error[g] <= 1e308  # nothing is decided by such a sum
    whole_numbers, exponent = exact_sums(x, y, group, 3)
    assert [scaled(n, exponent) for n in whole_numbers] == true


@given(st.lists(st.tuples(st.integers(-50, 50), st.integers(-(2**40), 2**40)), min_size=1, max_size=30))
def test_sums_of_whole_numbers_are_exact(rows):
    x, y = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    value, error = sums(x, y, np.zeros(len(rows), dtype=int), 1)
    assert (value[0], error[0]) == (sum(p * q for p, q in rows), 0)


@given(st.fractions(), st.integers(-1100, 1100))
def test_rounding_brackets(x, exponent):
    x = x * Fraction(2) ** exponent
    low, high = round_down(x), round_up(x)
    assert low == -math.inf or Fraction(low) <= x
    assert high == math.inf or Fraction(high) >= x
    assert high in (low, math.nextafter(low, math.inf))
