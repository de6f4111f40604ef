"""Identities hold for every move of the table, prove how far a side goes, and moves are moves."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import null_space

from sdcdsl.accelerate.cutting.capacities import Capacities
from sdcdsl.accelerate.cutting.chained_cuts import interval_chain, share_chain, widened
from sdcdsl.accelerate.cutting.min_cost_separation import MinCostSeparation
from sdcdsl.accelerate.cutting.requirements import CutRequirements
from sdcdsl.accelerate.cutting.separation import Separation
from sdcdsl.methods.instance import Instance
from tests.methods.oracle import furthest
from tests.methods.tiny_tables import SHAPES, tiny_table

TABLES = [(shape, seed) for shape in SHAPES for seed in (1, 2, 5)]


def held(shape: str, seed: int, repairing: bool):
    """A round at a random point of a table, with what is needed to judge it."""
    demands = CutRequirements(Instance(tiny_table(seed, shape)))
    n = demands.classes.count
    repairs = MinCostSeparation(demands.classes.matrix, np.ones(n), np.ones(n)) if repairing else None
    separation = Separation(demands, repairs)
    draw = np.random.default_rng(seed)
    z = draw.choice([0.0, 0.3, 1.0, 4.0], 2 * n) * demands.unit
    point = Capacities(demands, z[:n], z[n:])
    return demands, separation, point, separation.round(point)


@pytest.mark.parametrize(("shape", "seed"), TABLES)
def test_every_side_is_judged_as_a_linear_program_does(shape: str, seed: int):
    demands, separation, point, made = held(shape, seed, repairing=False)
    M, levels = demands.classes.matrix.sparse.toarray(), separation.levels
    for s in range(separation.requirements):
        down, up = point.of_viewer(int(levels.viewer[s]))
        side = 1 if levels.sign[s] > 0 else 0
        need = float(levels.need[s])
        true = furthest(M, down, up, int(levels.cell[s]), side, need)
        assert made.short[s] == (true < need * (1 - 1e-7))
        if made.short[s]:
            assert made.reached[s] == pytest.approx(true, rel=1e-7, abs=1e-9 * need)


@pytest.mark.parametrize(("shape", "seed"), TABLES)
@pytest.mark.parametrize("repairing", [False, True])
def test_cuts_hold_for_all_moves_and_are_violated(shape: str, seed: int, repairing: bool):
    demands, separation, point, made = held(shape, seed, repairing)
    moves = null_space(demands.classes.matrix.sparse.toarray())
    assert moves.size or not made.found
    for identity in made.found:
        c = np.zeros(demands.classes.count)
        np.add.at(c, identity.up[0], identity.up[1])
        np.subtract.at(c, identity.down[0], identity.down[1])
        if identity.level < separation.requirements:
            c[separation.levels.cell[identity.level]] -= separation.levels.sign[identity.level]
        else:
            continue  # two identities in one
        assert np.abs(c @ moves).max(initial=0.0) < 1e-9
    assert all(separation.value(identity, point) < identity.need for identity in made.found)


@pytest.mark.parametrize(("shape", "seed"), TABLES)
def test_the_hull_of_a_repaired_round_is_valid(shape: str, seed: int):
    demands, separation, _, made = held(shape, seed, repairing=True)
    if not made.whole:  # a sliding level without any move
        assert len(demands.slides)
        return
    n = demands.classes.count
    wide = made.hull * (1 + 1e-7)
    assert not separation.round(Capacities(demands, wide[:n], wide[n:]), repairing=False).short.any()


@pytest.mark.parametrize(("shape", "seed"), TABLES)
def test_chains_of_cuts_start_at_the_point(shape: str, seed: int):
    demands, separation, point, made = held(shape, seed, repairing=False)
    n = demands.classes.count
    z, price = np.concatenate([point.down, point.up]), np.arange(1.0, 2 * n + 1)
    for s in np.flatnonzero(made.short[: separation.requirements]).tolist():
        chain = interval_chain(separation, s, z, price, 5)
        assert chain
        assert all(separation.value(identity, point) < identity.need for identity in chain)
    x = np.random.default_rng(seed).choice([0.0, 0.3, 0.7], n)
    shares = Capacities(demands, np.full(n, np.inf), np.full(n, np.inf), x)
    for s in np.flatnonzero(separation.round(shares, tolerance=1e-4).short[: separation.requirements]).tolist():
        chain = share_chain(separation, s, x, price[:n], 5)
        assert chain
        assert all(separation.value(identity, shares) < identity.need for identity in chain)


@pytest.mark.parametrize(("shape", "seed"), TABLES)
def test_what_is_widened_satisfies_all_sides_and_only_grows(shape: str, seed: int):
    demands, separation, point, made = held(shape, seed, repairing=False)
    n, M, levels = demands.classes.count, demands.classes.matrix.sparse.toarray(), separation.levels
    z = np.concatenate([point.down, point.up])
    wide = widened(separation, z, np.arange(1.0, 2 * n + 1))

    def reaches(s: int, down: np.ndarray, up: np.ndarray) -> bool:
        cell, sign, _, need = separation.target(s)
        return furthest(M, down, up, cell, int(sign > 0), need) >= need * (1 - 1e-7)

    if wide is None:  # then there is a side that nothing satisfies
        assert not all(reaches(s, *demands.slack(int(levels.viewer[s]))) for s in range(separation.requirements))
        return
    assert (wide >= z).all()
    assert (wide == z).all() or made.short[: separation.requirements].any()
    for s in range(separation.requirements):
        assert reaches(s, *Capacities(demands, wide[:n], wide[n:]).of_viewer(int(levels.viewer[s])))


@pytest.mark.parametrize(("shape", "seed"), TABLES)
def test_levels_at_cells_that_move_are_those_that_looking_at_all_cells_finds(shape: str, seed: int):
    demands, separation, _, _ = held(shape, seed, repairing=False)
    levels, n, draw = separation.levels, demands.classes.count, np.random.default_rng(seed)
    separation._done = draw.random(len(levels)) < 0.3
    moved = draw.permutation(n)[: max(1, n // 2)]
    move = draw.choice([-2.0, 0.0, 1.5], len(moved))
    dense = np.zeros(n)
    dense[moved] = move
    expected = np.flatnonzero(~separation._done & (dense[levels.cell] != 0))
    found, each = separation._at_cells(moved, move)
    assert found.tolist() == expected.tolist()
    assert each.tolist() == dense[levels.cell[expected]].tolist()


def test_levels_of_one_size_have_the_same_slack():
    """Attacks know arrays again that they were given before; only the size of the level and who asks change them."""
    demands = CutRequirements(Instance(tiny_table(1, next(iter(SHAPES)))))
    n = demands.classes.count
    share = np.linspace(0.0, 1.0, n)
    point = Capacities(demands, np.full(n, 9.0), np.full(n, 9.0), share)
    one, again = point.at(0, 2.0), point.at(0, 2.0)
    assert one[0] is again[0] and one[1] is again[1]
    low, high = point.of_viewer(0)
    for need in (3.0, 2.0):
        down, up = point.at(0, need)
        np.testing.assert_array_equal(down, np.minimum(low, need * share))
        np.testing.assert_array_equal(up, np.minimum(high, need * share))
