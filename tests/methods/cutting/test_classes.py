"""Cells that move together form classes, and classes move as their cells do."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import null_space

from sdcdsl.accelerate.cutting.aggregation import classes_of
from sdcdsl.methods.instance import Instance
from sdcdsl.numerics.aggregation import FIXED
from tests.methods.tiny_tables import SHAPES, tiny_table


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seed", range(4))
def test_moves_of_classes_are_moves_of_cells(shape: str, seed: int):
    instance = Instance(tiny_table(seed, shape))
    classes = classes_of(instance.M, instance.may_open)
    M = instance.M.toarray()[:, instance.may_open]
    mine = null_space(M)
    of, turn = classes.of[instance.may_open], classes.factor[instance.may_open]
    relations = classes.matrix.sparse.toarray()
    basis = null_space(relations) if relations.size else np.eye(classes.count)
    expanded = (
        turn[:, None] * np.vstack([basis, np.zeros(basis.shape[1])])[of]
    )  # the last row for those that stand still
    assert expanded.shape[1] == mine.shape[1]
    assert np.abs(M @ expanded).max(initial=0.0) < 1e-9
    assert np.abs(mine[of == FIXED]).max(initial=0.0) < 1e-9


def test_a_table_in_two_dimensions_is_a_network_and_cells_alone_with_another_are_one_class():
    instance = Instance(tiny_table(3, "3 × 3"))
    assert classes_of(instance.M, np.ones(instance.n, dtype=bool)).network is not None
    cube = Instance(tiny_table(0, "2 × 2 × 2"))
    inner = (cube.M.toarray() > 0).sum(axis=0) == 3  # the eight cells that are no sums
    classes = classes_of(cube.M, inner)
    assert classes.count == 1
    assert classes.of[inner].tolist() == [0] * 8
    assert sorted(classes.factor[inner]) == [-1.0] * 4 + [1.0] * 4
    low, high = classes.least(np.arange(cube.n, dtype=float), np.full(cube.n, 50.0))
    assert (low[0], high[0]) == (
        float(np.flatnonzero(inner & (classes.factor > 0)).min()),
        float(np.flatnonzero(inner & (classes.factor < 0)).min()),
    )
