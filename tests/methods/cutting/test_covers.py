"""Covers hold wherever their cut does, say more than it, and are found where they are missed."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.sparse import csr_array

from sdcdsl.accelerate.cutting.covers import covers
from sdcdsl.numerics.compiled import kernels


def rows_of(*cuts: list[float]) -> csr_array:
    return csr_array(np.array(cuts))


@pytest.mark.parametrize("seed", range(30))
def test_hold_for_all_whole_numbers_that_satisfy_the_cut(seed: int):
    draw = np.random.default_rng(seed)
    n = 9
    a = np.where(draw.random((6, n)) < 0.7, draw.choice([0.05, 0.2, 0.25, 0.5, 0.9, 1.0, draw.random()], (6, n)), 0.0)
    a[:, 0] = np.maximum(a[:, 0], 0.1)
    points = np.array(list(product((0.0, 1.0), repeat=n)))
    found = 0
    for x in draw.random((5, n)).round(1):
        for r in range(len(a)):
            made = covers(csr_array(a[r : r + 1]), x, 1e-3)
            satisfied = points[points @ a[r] >= 1.0]
            for columns, values, rhs in made:
                found += 1
                assert rhs - values @ x[columns] > 1e-3
                assert (satisfied[:, columns] @ values >= rhs - 1e-9).all()
                assert ((values > 0) & (values <= 1)).all()
    assert found > 0


def test_what_a_share_of_a_large_class_does_not_give():
    """A tenth is lacking; two fifths of a class that has much more counted for enough."""
    made = covers(rows_of([0.9, 0.9, 0.9]), np.array([1.0, 0.2, 0.2]), 1e-4)
    assert len(made) == 1
    columns, values, _ = made[0]
    assert columns.tolist() == [1, 2]
    assert values.tolist() == [1.0, 1.0]


def test_each_row_has_its_own():
    x = np.array([1.0, 0.2, 0.2, 1.0])
    made = covers(rows_of([0.9, 0.9, 0.9, 0.0], [0.5, 0.5, 0.0, 0.5], [0.0, 0.9, 0.9, 0.9]), x, 1e-4)
    assert [columns.tolist() for columns, _, _ in made] == [[1, 2], [1, 2]]


def test_nothing_where_the_rest_gives_what_is_lacking():
    assert covers(rows_of([0.9, 0.9, 0.9]), np.array([1.0, 0.5, 0.5]), 1e-4) == []


def test_what_may_be_rounding_is_not_lacking():
    assert covers(rows_of([1.0 - 1e-9, 0.5]), np.array([1.0, 0.0]), 1e-4) == []


def test_compiled_as_written():
    draw = np.random.default_rng(0)
    rows, x = csr_array(draw.uniform(0.05, 1, (40, 12))), draw.random(12)
    made = []
    for mode in ("plain", "fast"):
        with kernels(mode):
            made.append(covers(rows, x, 1e-3))
    assert len(made[0]) == len(made[1])
    for one, other in zip(*made, strict=True):
        assert np.array_equal(one[0], other[0])
        assert np.array_equal(one[1], other[1])
