"""A sparse basis of all moves: it spans the null space, no more and no less; a leaf moves only the sums above it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from sdcdsl.numerics.sparse_null_space import sparse_null_space
from tests.attack.tables import SHAPES, TREES, Relation, cross, flat, linked
from tests.shapes import shape

LARGER = {
    **SHAPES,
    "two large hierarchies": lambda: cross([TREES[1], TREES[1]]),
    "three dimensions": lambda: cross([TREES[0], flat(3), flat(2)]),
    "linked hierarchies": lambda: linked(TREES[1], TREES[0], flat(3)),
}


def matrix(n: int, relations: list[Relation]) -> csr_array:
    dense = np.zeros((len(relations), n))
    for row, relation in enumerate(relations):
        for s, cell in relation:
            dense[row, cell] += s
    return csr_array(dense)


def assert_spans(M: csr_array) -> np.ndarray:
    N = sparse_null_space(M)
    assert N is not None
    basis, dense = N.toarray(), M.toarray()
    assert np.abs(dense @ basis).max(initial=0.0) <= 1e-12 * max(np.abs(basis).max(initial=0.0), 1.0)
    rank = np.linalg.matrix_rank(dense) if dense.size else 0
    assert basis.shape == (shape(M)[1], shape(M)[1] - rank)
    assert np.linalg.matrix_rank(basis) == basis.shape[1] if basis.size else True
    return basis


@pytest.mark.parametrize("shape", LARGER)
def test_all_moves_of_a_table(shape: str):
    assert_spans(matrix(*LARGER[shape]()))


@pytest.mark.parametrize("shape", LARGER)
@pytest.mark.parametrize("seed", range(4))
def test_all_moves_of_what_is_left_of_a_table(shape: str, seed: int):
    """Some cells are published, relations are said twice, weighted, in any order and any sign."""
    draw = np.random.default_rng(seed)
    M = matrix(*LARGER[shape]())
    relations, cells = M.shape
    rows = draw.permutation(np.repeat(np.arange(relations), draw.integers(1, 3, relations)))
    M = M[rows][:, np.flatnonzero(draw.random(cells) < 0.7)]
    M = csr_array(np.diag(draw.choice([1.0, -1.0, 2.0, 0.5], M.shape[0])) @ M.toarray())
    assert_spans(M)


@pytest.mark.parametrize("seed", range(8))
def test_weights_and_mixed_signs(seed: int):
    """No cell need be the sum of others."""
    draw = np.random.default_rng(seed)
    assert_spans(csr_array(draw.choice([0.0, 0.0, 0.0, 1.0, -1.0, 2.0], (7, 15))))


@pytest.mark.parametrize("size", [(0, 0), (0, 3), (2, 0), (2, 3)])
def test_nothing_adds_up(size: tuple[int, int]):
    basis = assert_spans(csr_array(np.zeros(size)))
    assert np.array_equal(basis, np.eye(size[1]))


def test_a_direction_is_a_leaf_and_the_sums_above_it():
    """Four leaves below two sums below a total, by two columns and their total: a leaf moves 3 × 2 cells."""
    basis = assert_spans(matrix(*cross([TREES[1], flat(2)])))
    assert basis.shape[1] == 4 * 2
    assert np.count_nonzero(basis, axis=0).tolist() == [3 * 2] * 8


def test_a_coefficient_that_cancels_determines_nothing():
    """An entry of 0 is stored where the same cell was written twice with opposite signs."""
    M = csr_array((np.array([-1.0, 1.0, 1.0, 0.0, 1.0]), ([0, 0, 0, 1, 1], [0, 1, 2, 0, 3])), shape=(2, 4))
    assert_spans(M)
