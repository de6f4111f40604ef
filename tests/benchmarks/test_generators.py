"""Made tables: the same for the same seed, additive, of the size and kind that was asked for."""

from __future__ import annotations

import generators
import instances
import numpy as np
import pytest
from scipy.sparse import csr_array

LEVELS = ((3, 12), (2, 6), (5,))
MAKE = {
    "magnitude": lambda seed, folder: generators.magnitude(LEVELS, seed=seed),
    "frequency": lambda seed, folder: generators.frequency(LEVELS, seed=seed),
    "linked": lambda seed, folder: generators.linked(folder, 500, seed),
    "cubic": lambda seed, folder: generators.cubic(700, seed=seed),
    "lookalike": lambda seed, folder: instances.lookalike(4, seed=seed),
    "business": lambda seed, folder: instances.business(seed=seed),
}


def off(problem):
    d = problem.dataset
    entries = d["coefficient"].values, (d["equation_of"].values, d["cell_of"].values)
    M = csr_array(entries, shape=(problem.m, problem.n))
    return float(np.abs(M @ d["a"].values - d["b"].values).max())


@pytest.mark.parametrize("name", MAKE)
def test_seeded_and_additive(name, tmp_path):
    one, same, other = (MAKE[name](seed, tmp_path / str(i)).dataset for i, seed in enumerate((1, 1, 2)))
    for field in ("a", "status", "lpl", "upl", "cell_at"):
        np.testing.assert_array_equal(one[field].values, same[field].values)
    assert one["a"].shape != other["a"].shape or (one["a"].values != other["a"].values).any()
    problem = MAKE[name](1, tmp_path / "again")
    assert off(problem) == 0
    assert problem.dataset.sizes["pair"] > 0
    assert (problem.dataset["upl"].values > 0).all()


def test_sizes_are_what_was_asked_for():
    problem = generators.magnitude(LEVELS, share=0.1, seed=1)
    assert problem.n == 16 * 9 * 6
    assert len(problem.sensitive) == int(0.1 * problem.n)
    for n in (64, 1_000, 30_000):
        assert 0.6 * n <= generators.cubic(n).n <= 1.4 * n


def test_values_are_skewed_and_some_are_zero():
    a = generators.magnitude(((40,), (50,)), zeros=0.1, seed=3).dataset["a"].values.reshape(41, 51)[1:, 1:]
    assert 0.05 < (a == 0).mean() < 0.15
    assert a.mean() > 1.5 * np.median(a)


def test_counts_are_small_whole_numbers():
    problem = generators.frequency(((20,), (20,), (10,)), seed=3)
    leaves = problem.dataset["a"].values.reshape(21, 21, 11)[1:, 1:, 1:]
    assert (leaves == np.round(leaves)).all() and (leaves <= 2).mean() > 0.7
    assert set(problem.dataset["a"].values[problem.sensitive]) <= {1.0, 2.0}


def test_linked_tables_share_cells(tmp_path):
    problem = generators.linked(tmp_path, 500, 1)
    assert len(problem.tables) == 2
    shared = 31  # 24 activities, 6 groups and the total, over all regions and over all sizes
    assert problem.n == sum(table.size for table in problem.tables) - shared


def test_sums_over_two_hierarchies_of_one_dimension():
    """A code that stands in two trees is added up in both, and the total once."""
    first = generators.tree(("Total", "a", "b", "x", "y", "z"), (-1, 0, 0, 1, 1, 2))
    second = generators.tree(("Total", "c", "d", "x", "y", "z"), (-1, 0, 0, 3 - 2, 2, 2))
    side = generators.dimension("s", first, second)
    leaves = np.zeros(len(side.codes))
    for code, value in (("x", 1.0), ("y", 10.0), ("z", 100.0)):
        leaves[side.index[code]] = value
    sums = generators.added_up(leaves, [side])
    found = {code: sums[side.index[code]] for code in side.codes}
    assert found == {"Total": 111, "a": 11, "b": 100, "c": 1, "d": 110, "x": 1, "y": 10, "z": 100}


@pytest.mark.parametrize("number", instances.LOOKALIKES)
def test_lookalikes_have_the_dimensions_of_paper_000(number):
    """Its Table 1: cells, sensitive cells, relations, entries."""
    printed = {
        1: (1444, 135, 171, 2964),
        2: (2544, 237, 303, 5216),
        3: (2108, 196, 243, 4318),
        4: (1444, 216, 152, 2945),
        5: (1488, 220, 173, 3040),
        6: (1411, 209, 168, 2890),
    }
    made = instances.lookalike(number)
    assert (made.n, len(made.sensitive), made.m, made.dataset.sizes["entry"]) == printed[number]
