"""Tables that fit a release, against all there are."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.sparse import csr_array

from sdcdsl.risk.candidates import candidates


def grid(rows: int, columns: int, seed: int) -> tuple[csr_array, np.ndarray, np.ndarray, np.ndarray]:
    """A table with its totals, some inner cells hidden; whole numbers that are not negative."""
    rng = np.random.default_rng(seed)
    inner = rng.integers(0, 6, (rows, columns))
    a = np.zeros((rows + 1, columns + 1))
    a[:rows, :columns] = inner
    a[rows], a[:, columns] = a.sum(axis=0), a.sum(axis=1)
    a[rows, columns] = inner.sum()
    number = np.arange(a.size).reshape(a.shape)
    lines = [*number, *number.T]
    entries = [(k, cell, -1.0 if cell == line[-1] else 1.0) for k, line in enumerate(lines) for cell in line]
    row, cell, value = zip(*entries, strict=True)
    M = csr_array((value, (row, cell)), shape=(len(lines), a.size))
    hidden = np.zeros(a.shape, dtype=bool)
    hidden[:rows, :columns] = rng.random((rows, columns)) < 0.8
    flat, hides = a.ravel(), hidden.ravel()
    return M, flat, np.where(hides, 0.0, flat), np.where(hides, np.inf, flat)


def literally(M: csr_array, a: np.ndarray, low: np.ndarray, high: np.ndarray) -> set[tuple[float, ...]]:
    free = np.flatnonzero(high > low)
    out = set()
    for values in product(range(int(a.max()) + 1), repeat=len(free)):
        table = a.copy()
        table[free] = values
        if np.abs(M @ table).max() == 0:
            out.add(tuple(table[free]))
    return out


@pytest.mark.parametrize("seed", range(6))
def test_all_tables_of_whole_numbers_are_found(seed: int) -> None:
    M, a, low, high = grid(2, 2, seed)
    made = candidates(M, a, low, high, True, 10_000, np.random.default_rng(0))
    free = np.flatnonzero(high > low)
    assert made.every and (made.tables[0] == a).all()
    assert {tuple(table[free]) for table in made.tables} == literally(M, a, low, high)
    assert len(np.unique(made.tables, axis=0)) == len(made.tables)


@pytest.mark.parametrize("whole", [True, False])
def test_a_sample_fits_the_release(whole: bool) -> None:
    M, a, low, high = grid(4, 5, 3)
    made = candidates(M, a, low, high, whole, 40, np.random.default_rng(0))
    assert not made.every and len(made.tables) == 40 and (made.tables[0] == a).all()
    assert np.abs(M @ made.tables.T).max() < 1e-9
    assert (made.tables >= low - 1e-9).all() and (made.tables <= high + 1e-9).all()
    if whole:
        assert (made.tables == np.rint(made.tables)).all()
    moved = np.ptp(made.tables, axis=0) > 0
    assert moved.any() and not moved[~made.reach].any()


def test_without_an_end_all_tables_are_too_many() -> None:
    """Two cells that nothing bounds, and their difference."""
    M = csr_array(np.array([[1.0, -1.0, -1.0]]))
    a = np.array([5.0, 3.0, 2.0])
    made = candidates(
        M, a, np.array([0.0, 0.0, 2.0]), np.array([np.inf, np.inf, 2.0]), True, 30, np.random.default_rng(0)
    )
    assert not made.every
    assert (M @ made.tables.T == 0).all() and len(np.unique(made.tables[:, 0])) > 5
