"""What parts of a table are proven to cost, against all patterns of tables that are small enough to try them."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy.sparse import csr_array

from sdcdsl.accelerate.csp.bounding import Bounding
from sdcdsl.accelerate.csp.branch_and_bound import PartTree
from sdcdsl.accelerate.csp.partition_bound import ByParts
from sdcdsl.deadline import Deadline
from sdcdsl.methods.instance import Instance
from sdcdsl.numerics.cut_pool import CutPool
from sdcdsl.numerics.master import Master
from sdcdsl.numerics.partition import parts_of
from sdcdsl.numerics.tuning import TUNING
from tests.methods.tiny import by_cost, tiny, valid

FOREVER = 10**6
SEEDS = range(6)


@cache
def all_valid(seed: int) -> list[tuple[float, np.ndarray]]:
    """Every valid pattern of a tiny table, cheapest first."""
    problem = tiny(seed)
    patterns = [
        (cost, hidden)
        for cost, hidden in by_cost(Instance(problem))
        if valid(problem, *(np.where(hidden, np.inf, 0.0),) * 2)
    ]
    if not patterns:
        pytest.skip("nothing protects this one")
    return patterns


@pytest.mark.parametrize("seed", SEEDS)
def test_no_pattern_costs_less_in_a_part_than_its_tree_proves(seed: int):
    problem = tiny(seed)
    patterns, draw = all_valid(seed), np.random.default_rng(seed)
    for take in (0.3, 0.6, 1.0):
        instance = Instance(problem)
        bounding = Bounding(instance, instance.w)
        xs = np.array([bounding.of_cells(hidden) for _, hidden in patterns])
        part = np.flatnonzero(draw.random(bounding.classes.count) < take)
        price = np.zeros(bounding.classes.count)
        price[part] = draw.uniform(0.0, 2.0, len(part))
        costs = xs @ price
        tree = PartTree(bounding, part, price, float(costs[len(costs) // 2]), 1e-9)
        before = -np.inf
        while not tree.closed:
            assert before <= tree.least + 1e-9
            assert tree.least <= costs.min() + 1e-9
            before = tree.least
            tree.advance(1, Deadline())
        assert tree.least <= costs.min() + 1e-7
        if take == 1.0:  # nothing is outside, so that the best of the part is the best
            assert tree.least == pytest.approx(costs.min(), abs=1e-6)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_ceiling_that_is_too_low_proves_no_more_than_itself(seed: int):
    instance = Instance(tiny(seed))
    bounding = Bounding(instance, instance.w)
    cheapest = float(bounding.cost @ bounding.of_cells(all_valid(seed)[0][1]))
    everything = np.arange(bounding.classes.count)
    tree = PartTree(bounding, everything, bounding.cost, cheapest / 2, 0.0)
    tree.advance(FOREVER, Deadline())
    assert tree.closed
    assert tree.least == pytest.approx(cheapest / 2)


@pytest.mark.parametrize("seed", SEEDS)
def test_bounds_by_parts_meet_the_best_pattern(seed: int):
    patterns = all_valid(seed)
    instance = Instance(tiny(seed))
    bounding = Bounding(instance, instance.w)
    while bounding.round(Deadline()):
        pass
    known = [(bounding.of_cells(hidden), cost) for cost, hidden in patterns]
    best = [known[len(known) // 2]]

    def propose(x: np.ndarray, whole: bool) -> None:
        """The cheapest valid pattern that hides all of x."""
        best[0] = min([best[0], *((k, c) for k, c in known if (k >= np.round(x) - 1e-9).all())], key=lambda p: p[1])

    ByParts(
        bounding, Deadline(), lambda: best[0], propose, lambda bound: bound >= best[0][1] - 1e-9, lambda: None
    ).run()
    least = patterns[0][0]
    assert bounding.bound <= least + 1e-9
    assert bounding.bound == pytest.approx(least)
    for x, cost in known:
        if cost < best[0][1] + 1e-9:
            assert (bounding.master.matrix @ x >= bounding.master.rhs - 1e-7).all()


def test_time_that_is_up_leaves_a_bound_that_holds():
    seed = 1
    instance = Instance(tiny(seed))
    bounding = Bounding(instance, instance.w)
    everything = np.arange(bounding.classes.count)
    tree = PartTree(bounding, everything, bounding.cost, 1e6, 0.0)
    tree.advance(FOREVER, Deadline(0.0))
    assert not tree.closed
    assert tree.nodes == 0
    assert tree.least <= float(bounding.cost @ bounding.of_cells(all_valid(seed)[0][1]))


# ---- parts -----------------------------------------------------------------------------------------------------------


def two_tables(size: int, linked: int) -> csr_array:
    """Two tables of rows and columns, each cell in one of both, and cells that stand in a column of each."""
    rows = []
    for k in range(2):
        number = k * size * size + np.arange(size * size).reshape(size, size)
        rows += [*number, *number.T]
    M = np.zeros((4 * size, 2 * size * size + linked))
    for r, cells in enumerate(rows):
        M[r, cells] = 1.0
    for e in range(linked):
        M[[size + e, 3 * size + e], 2 * size * size + e] = 1.0, -1.0
    return csr_array(M)


def test_two_tables_that_few_cells_join_are_two_parts():
    size, linked = 7, 2
    parts = parts_of(two_tables(size, linked), np.ones(2 * size**2 + linked, dtype=bool))
    links = {2 * size**2, 2 * size**2 + 1}
    assert [set(part.tolist()) for part in parts] == [
        set(range(size**2)) | links,
        set(range(size**2, 2 * size**2)) | links,
    ]


def test_cells_that_stay_published_join_nothing():
    size = 7
    is_open = np.ones(2 * size**2 + size, dtype=bool)
    is_open[-size:] = False
    parts = parts_of(two_tables(size, size), is_open)
    assert sorted(np.concatenate(parts).tolist()) == list(range(2 * size**2))
    assert len(parts) == 2


def test_one_table_is_one_part():
    size = 8
    one = csr_array(two_tables(size, 0)[: 2 * size, : size * size])
    parts = parts_of(one, np.ones(size * size, dtype=bool))
    assert [part.tolist() for part in parts] == [list(range(size * size))]


# ---- rows that wait --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_no_row_is_lost(seed: int):
    """Whatever has left and come back, a point that no waiting row keeps off satisfies all that were ever added."""
    draw = np.random.default_rng(seed)
    n = 12
    master = Master(draw.uniform(1, 5, n), np.zeros(n), np.ones(n))
    waiting = CutPool(master)
    added = []
    left = 0
    for _ in range(60):
        rows = []
        for _ in range(3):
            at = np.sort(draw.choice(n, 4, replace=False))
            rows.append((at, draw.uniform(0.3, 1.0, 4), 1.0))
        added += rows
        master.add(rows)
        master.cost[:] = draw.uniform(1, 5, n)  # other rows are tight from time to time
        master._program.change_costs(master.cost)
        while True:
            made = master.relax()
            assert made.slack is not None
            waiting.leave(made.slack)
            left = max(left, len(added) - master.rows)
            if not waiting.come_back(made.x):
                break
        for at, values, rhs in added:
            assert values @ made.x[at] >= rhs - 0.021
    assert left > TUNING.slack_for
    assert len(added) < TUNING.kept_rows
