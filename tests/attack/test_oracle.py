"""The ground truth of the other tests: two exact computations agree, and give what is known by hand."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings

from tests.attack.oracle import INF, System, eliminated_range, protected, simplex_range, whole
from tests.attack.tables import known_table, systems

BOTH = pytest.mark.parametrize("ends", [simplex_range, eliminated_range])


def small(a, rows, low, high) -> System:
    terms = [(c, j, i) for i, row in enumerate(rows) for j, c in enumerate(row) if c]
    coefficient, cell_of, equation_of = zip(*terms, strict=True) if terms else ((), (), ())
    return System(
        np.array(a, dtype=float),
        np.array(coefficient, dtype=float),
        np.array(cell_of, dtype=int),
        np.array(equation_of, dtype=int),
        np.array(low, dtype=float),
        np.array(high, dtype=float),
    )


@BOTH
def test_the_table_everybody_knows(ends):
    table = known_table()
    assert ends(table, 4 * 2 + 3) == (5, 30)  # II·C
    assert ends(table, 4 * 2 + 1) == (0, 25)  # II·A
    assert ends(table, 4 * 3 + 1) == (0, 25)
    assert ends(table, 4 * 3 + 3) == (4, 29)
    assert ends(table, 4 * 1 + 1) == (20, 20)


@BOTH
def test_hand_known_answers(ends):
    # Two parts of a published total.
    assert ends(small([7, 3, 4], [[-1, 1, 1]], [7, 0, 0], [7, INF, INF]), 1) == (0, 7)
    # A single hidden part is read off.
    assert ends(small([7, 3, 4], [[-1, 1, 1]], [7, 0, 4], [7, INF, 4]), 1) == (3, 3)
    # The total hidden as well: no end above.
    assert ends(small([7, 3, 4], [[-1, 1, 1]], [0, 0, 0], [INF, INF, INF]), 1) == (0, INF)
    assert ends(small([7, 3, 4], [[-1, 1, 1]], [-INF] * 3, [INF] * 3), 0) == (-INF, INF)
    # 2 y₁ + 3 y₂ = 12 with 0 ≤ y: y₂ ≤ 4, y₁ ≤ 6.
    assert ends(small([3, 2], [[2, 3]], [0, 0], [INF, INF]), 0) == (0, 6)
    assert ends(small([3, 2], [[2, 3]], [0, 0], [INF, INF]), 1) == (0, 4)
    # A third: 3 y₁ = y₂ + …, where only exact arithmetic stays exact.
    assert ends(small([1, 3], [[3, -1]], [0, 2], [INF, 5]), 0) == (Fraction(2, 3), Fraction(5, 3))
    # No relation at all.
    assert ends(small([5], [], [1], [INF]), 0) == (1, INF)


def test_verdicts_at_the_level():
    assert protected((Fraction(5), Fraction(30)), 22, 17, 8, 25)
    assert protected((Fraction(5), Fraction(30)), 22, 17 * (1 + 5e-10), 8, 25)
    assert not protected((Fraction(5), Fraction(30)), 22, 17.001, 8, 25)
    assert not protected((Fraction(5), Fraction(30)), 22, 17, 8.001, 25)
    assert not protected((Fraction(5), Fraction(30)), 22, 17, 8, 25.001)
    assert protected((-INF, INF), 0, 1e9, 1e9, 1e12)
    assert whole((Fraction(2, 3), Fraction(5, 3))) == (1, 1)
    assert whole((-INF, Fraction(-1, 2))) == (-INF, -1)


@given(systems())
@settings(max_examples=150, deadline=None)
def test_both_ways_agree(system):
    assume(system.freedom <= 4 and len(system.open) <= 14)
    for cell in range(system.n):
        assert simplex_range(system, cell) == eliminated_range(system, cell)
