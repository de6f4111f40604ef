"""Newton's directions by factors: relations that others imply are left out, and nothing changes but the time."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array

from sdcdsl.bind.hierarchy import CodeTree, DimensionCodes
from sdcdsl.bind.lattice import lattice
from sdcdsl.bind.relations import relations
from sdcdsl.numerics.nearest import newton
from sdcdsl.numerics.nearest.newton import Newton
from sdcdsl.numerics.nearest.solved import SeparableCost
from tests.shapes import shape


def cube(side: int) -> csr_array:
    """Three dimensions with totals: every total of totals is said three times."""
    codes = ("Total", *(str(i) for i in range(side)))
    tree = CodeTree(codes, np.array([-1] + [0] * side, dtype=np.int32), np.ones(side + 1, dtype=np.int8))
    cells, found = lattice([DimensionCodes(name, codes, (tree,)) for name in "abc"])
    assert cells is not None, found
    made = relations(cells)
    return csr_array((made.coefficient, (made.equation_of, made.cell_of)), shape=(len(made.rhs), made.cells))


@pytest.fixture
def reducing(monkeypatch):
    monkeypatch.setattr(newton, "NEWTON", replace(newton.NEWTON, worth_reducing=0))


def test_as_many_relations_as_the_rank(reducing):
    M = cube(4)
    enough = Newton(M).enough
    assert len(enough) == np.linalg.matrix_rank(M.toarray()) < shape(M)[0]
    assert np.linalg.matrix_rank(M.toarray()[enough]) == len(enough)


def test_the_same_direction_of_the_cells(reducing):
    """The dual function depends on Mᵀy alone."""
    rng = np.random.default_rng(1)
    M = cube(4)
    made = Newton(M)
    D, r = rng.uniform(0.5, 2.0, shape(M)[1]), M @ rng.normal(size=shape(M)[1])
    shift = np.full(shape(M)[0], 1e-10)
    few, all_of_them = made._by_factors(D, shift, r, False), made._by_factors(D, shift, r, True)
    assert np.count_nonzero(few) < np.count_nonzero(all_of_them)
    np.testing.assert_allclose(M.T @ few, M.T @ all_of_them, rtol=1e-5, atol=1e-6)


def test_the_same_closest_table(reducing):
    """With factors from the first step on, against the projection written down."""
    rng = np.random.default_rng(2)
    M = cube(3)
    n = shape(M)[1]
    l, u = np.full(n, -np.inf), np.full(n, np.inf)
    l[[5, 17, 40]] = 3.0
    zero = np.zeros(n)
    made = Newton(M)
    plain = made._direction
    made._direction = lambda *args, hard, tied: plain(*args, hard=True, tied=tied)  # type: ignore[method-assign]
    ended = made.minimise(SeparableCost(zero, zero, rng.uniform(0.5, 2.0, n)), l, u)
    assert ended.done
    assert np.abs(M @ ended.z).max() < 1e-8
    assert (ended.z[[5, 17, 40]] >= 3.0 - 1e-9).all()
    conjugate = Newton(M).minimise(SeparableCost(zero, zero, np.ones(n)), l, u)
    again = made.minimise(SeparableCost(zero, zero, np.ones(n)), l, u)
    np.testing.assert_allclose(again.z, conjugate.z, atol=1e-6)
