"""Bounds on a table whose answers are known, and against plain Fractions."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sdcdsl.proof.bound import Bound, rational, reach, reaches
from sdcdsl.proof.system import ProofProblem
from tests.proof.worlds import HIDDEN, II_C, INVESTMENT, grid, hidden, indices, pairs, regions

ROW_II, ROW_III, COLUMN_C = 1, 2, 6


def world(levels=(17, 8, 25), low=0.0, high=np.inf, known=()) -> ProofProblem:
    seen = regions([hidden(INVESTMENT, HIDDEN, low, high)], [0, 0], known)
    return ProofProblem(grid(INVESTMENT), seen, pairs((II_C, 0, *levels), (II_C, 1, *levels)))


def test_ii_c_goes_up_by_eight():
    assert reach(world(), Bound(0, True, indices(ROW_II), np.array([1.0]))) == pytest.approx(8, abs=1e-12)


def test_ii_c_goes_down_by_seventeen():
    bound = Bound(0, False, indices(ROW_III, COLUMN_C), np.array([-1.0, 1.0]))
    assert reach(world(), bound) == pytest.approx(17, abs=1e-12)
    assert reach(world((17, 0, 0)), bound) >= 17


def test_a_bound_that_meets_the_level_is_decided_exactly():
    bound = Bound(0, True, indices(ROW_II), np.array([1.0]))
    assert reach(world((0, 8 / (1 - 1e-9), 0)), bound) == 8


def test_bounds_together_are_as_each_alone():
    seen = world(high=100.0, known=[(1, II_C, 12, 30)])
    rng = np.random.default_rng(3)
    bounds = [Bound(0, True, indices(), np.array([])), Bound(1, False, indices(), np.array([]))]
    for i in range(40):
        gamma = rng.integers(-2, 3, 8) + (0.0 if i % 2 else rng.random(8))
        bounds.append(
            Bound(i % 2, i % 3 == 0, np.arange(8), gamma, 1 + i % 4, also=indices(1) if i % 8 == 0 else indices())
        )
    alone = [reach(seen, bound) for bound in bounds]
    assert reaches(seen, bounds).tolist() == pytest.approx(alone, rel=1e-12)
    assert reaches(seen, []).tolist() == []


def test_denominators():
    bound = Bound(0, True, indices(ROW_II), np.array([3.0]), 3)
    assert reach(world(), bound) == pytest.approx(8, abs=1e-12)
    half = Bound(0, True, indices(ROW_II), np.array([1.0]), 2)  # ½ II·C stays, and is open above
    assert reach(world(), half) == math.inf
    assert reach(world(high=100.0), half) == pytest.approx((100 - 22) / 2 + 8 / 2, abs=1e-12)


def test_no_multipliers_leave_the_box_itself():
    none = np.array([])
    assert reach(world(), Bound(0, False, indices(), none)) == pytest.approx(22)
    assert reach(world(), Bound(0, True, indices(), none)) == math.inf
    assert reach(world(known=[(1, II_C, 10.0, 25.0)]), Bound(1, True, indices(), none)) == pytest.approx(3)


def test_a_multiplier_that_is_off_in_the_last_digit_bounds_nothing_open():
    bound = Bound(0, True, indices(ROW_II), np.array([math.nextafter(1.0, 0.0)]))
    assert reach(world(), bound) == math.inf
    # The harmless sign: a little too much of II·C comes back negative, and II·C is bounded below.
    bound = Bound(0, True, indices(ROW_II), np.array([math.nextafter(1.0, 2.0)]))
    assert reach(world(), bound) == pytest.approx(8)


def test_floats_that_cancel_exactly_are_seen_to():
    third = 1 / 3
    bound = Bound(0, True, indices(0, ROW_II), np.array([third, 1.0]))
    assert reach(world(), bound) == pytest.approx(8)


number = st.one_of(st.integers(-9, 9).map(float), st.sampled_from([0.1, -0.3, 1 / 3, 0.7, 2.5]))


@given(
    st.lists(number, min_size=8, max_size=8),
    st.integers(1, 6),
    st.lists(st.tuples(number, number), min_size=16, max_size=16),
    st.booleans(),
    st.one_of(st.none(), st.integers(-1, 1)),
)
@settings(max_examples=200, deadline=None)
def test_reach_is_the_formula(gamma, denominator, room, up, ulps):
    low = INVESTMENT - np.abs([x for x, _ in room])
    high = INVESTMENT + np.abs([x for _, x in room])
    system = grid(INVESTMENT)
    c = [Fraction(int(i == II_C)) for i in range(16)]
    for m, i, e in zip(system.coefficient, system.cell_of, system.equation_of, strict=True):
        c[i] -= Fraction(float(m)) * Fraction(gamma[e]) / denominator
    true = Fraction(0)
    for i, x in enumerate(c):
        ways = [x * (Fraction(float(end[i])) - Fraction(float(INVESTMENT[i]))) for end in (low, high)]
        true += max(ways) if up else max(-w for w in ways)
    level = 5.0 if ulps is None else max(float(true), 1.0) / (1 - 1e-9)
    seen = regions([(low, high)], [0])
    problem = ProofProblem(system, seen, pairs((II_C, 0, level, level, 0)))
    got = reach(problem, Bound(0, up, np.arange(8), np.array(gamma), denominator))
    assert Fraction(got) >= true
    assert got == pytest.approx(float(true), rel=1e-12, abs=1e-300)


@pytest.mark.parametrize(
    ("gamma", "numbers", "denominator"),
    [
        ([1.0, -2.0], [1, -2], 1),
        ([0.5, 1.0], [1, 2], 2),
        ([1 / 3, 0.16666666667], [2, 1], 6),
        ([0.05, 0.1], [1, 2], 20),
        ([], [], 1),
    ],
)
def test_rational(gamma, numbers, denominator):
    found = rational(np.array(gamma))
    assert found is not None
    assert (found[0].tolist(), found[1]) == (numbers, denominator)


def test_rational_gives_up():
    assert rational(np.array([np.pi])) is None
