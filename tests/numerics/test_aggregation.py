"""Aggregation classes against the null space that scipy finds."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import null_space
from scipy.sparse import csr_array

from sdcdsl.numerics.aggregation import FIXED, Aggregation, distinct, folded, of_basis

SEEDS = range(8)


def relations(seed: int, rows: int = 9, columns: int = 12) -> np.ndarray:
    """Short rows, so that many have one or two columns."""
    draw = np.random.default_rng(seed)
    M = np.zeros((rows, columns))
    for row in M:
        at = draw.choice(columns, draw.integers(1, 4), replace=False)
        row[at] = draw.choice([-2.0, -1.0, 1.0, 0.5], len(at))
    return M


def proportional(M: np.ndarray, i: int, j: int) -> bool:
    rows = null_space(M)[[i, j]]
    return np.linalg.matrix_rank(rows, tol=1e-9) < 2


def holds(found: Aggregation, N: np.ndarray) -> None:
    """Every solution is what its classes say."""
    assert np.abs(N[found.of == FIXED]).max(initial=0.0) < 1e-9
    for k in range(found.count):
        mine = np.flatnonzero(found.of == k)
        scaled = N[mine] / found.factor[mine, None]
        np.testing.assert_allclose(scaled, np.broadcast_to(scaled[0], scaled.shape), atol=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
def test_columns_of_a_class_are_proportional_in_every_solution(seed: int):
    M = relations(seed)
    found = folded(csr_array(M), np.ones(12, dtype=bool))
    holds(found, null_space(M))
    assert found.of.max(initial=FIXED) + 1 == found.count
    for k in range(found.count):  # the first column of a class is its unit
        assert found.factor[np.flatnonzero(found.of == k)[0]] == 1.0
    # Nothing is left that one more round would find.
    length = np.diff(distinct(csr_array(M @ found.expansion)).indptr)
    assert (length > 2).all()


@pytest.mark.parametrize("seed", SEEDS)
def test_solutions_among_classes_are_all_solutions(seed: int):
    M = relations(seed)
    found = folded(csr_array(M), np.ones(12, dtype=bool))
    among = distinct(csr_array(M @ found.expansion)).toarray()
    directions = null_space(among).shape[1] if len(among) else found.count
    assert directions == null_space(M).shape[1]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_basis_gives_all_classes(seed: int):
    M = relations(seed)
    N = null_space(M)
    N[np.abs(N) < 1e-12] = 0.0
    found, rows = of_basis(N)
    holds(found, N)
    assert len(rows) == found.count
    for i in range(12):
        for j in range(i):
            if FIXED not in (found.of[i], found.of[j]):
                assert (found.of[i] == found.of[j]) == proportional(M, i, j)


def test_only_columns_that_are_free_count():
    M = csr_array(np.array([[1.0, -1.0, 1.0, 0.0], [0.0, 0.0, 1.0, -2.0]]))
    found = folded(M, np.array([True, True, False, True]))
    assert found.of.tolist() == [0, 0, FIXED, FIXED]
    assert found.factor[:2].tolist() == [1.0, 1.0]


def test_unit_factors_leave_other_pairs_as_relations():
    M = csr_array(np.array([[1.0, -1.0, 0.0], [0.0, 1.0, -2.0]]))
    assert folded(M, np.ones(3, dtype=bool)).factor.tolist() == [1.0, 1.0, 0.5]
    found = folded(M, np.ones(3, dtype=bool), unit=True)
    assert found.of.tolist() == [0, 0, 1]
    assert folded(M, np.ones(3, dtype=bool), pairs=False).count == 3


def test_chains_that_contradict_each_other_fix_their_columns():
    M = csr_array(np.array([[1.0, -1.0, 0.0], [0.0, 1.0, -1.0], [1.0, 0.0, 1.0]]))  # x = y = z = -x
    assert folded(M, np.ones(3, dtype=bool)).of.tolist() == [FIXED] * 3


def test_a_class_has_the_tightest_bounds_of_its_columns():
    found = Aggregation(np.array([0, FIXED, 0, 1]), np.array([1.0, 0.0, -2.0, 3.0]), 2)
    l, u = np.array([-5.0, 0.0, -2.0, -3.0]), np.array([7.0, 0.0, 4.0, 6.0])
    low, high = found.bounds(l, u)
    assert low.tolist() == [-2.0, -1.0]  # 4 / -2 is above -5
    assert high.tolist() == [1.0, 2.0]  # -2 / -2 is below 7
    down, up = found.tightest(l, u)
    assert (down.tolist(), up.tolist()) == ([2, 3], [2, 3])
