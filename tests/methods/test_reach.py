"""Which sides a set of hidden cells leaves short, against linear programs of scipy."""

from __future__ import annotations

import numpy as np
import pytest

from sdcdsl.methods.instance import DOWN, UP, Instance
from sdcdsl.methods.pattern_check import falling_short
from tests.attack.tables import cross, flat
from tests.methods.oracle import SHORT, Oracle
from tests.methods.tiny_tables import made, scaled, tiny_table


@pytest.mark.parametrize("seed", range(16))
def test_pairs_that_fall_short(seed: int):
    problem = tiny_table(seed)
    oracle, draw = Oracle(problem), np.random.default_rng(seed)
    for share in (0.0, 0.5, 0.8, 1.0):
        hidden = oracle.always.copy()
        hidden[oracle.choice] = draw.random(len(oracle.choice)) < share
        assert sorted({clash.pair for clash in falling_short(Instance(problem), hidden)}) == oracle.exposed(hidden)


@pytest.mark.parametrize("seed", range(16))
def test_sides_that_fall_short_and_by_how_much(seed: int):
    problem = tiny_table(seed, levels="too much")
    oracle = Oracle(problem)
    hidden = oracle.everything()
    clashes = falling_short(Instance(problem), hidden, exact=True)
    assert sorted({clash.pair for clash in clashes}) == oracle.exposed(hidden)
    named = {(clash.pair, clash.side) for clash in clashes}
    for clash in clashes:
        sides = (DOWN, UP) if clash.side is None else (clash.side,)
        reach = sum(oracle.reach(clash.pair, side, hidden, clash.need) for side in sides)
        assert clash.reach == pytest.approx(reach, rel=1e-6, abs=1e-6 * clash.need)
        assert clash.need == oracle.levels[2 if clash.side is None else clash.side, clash.pair]
    for pair in range(len(oracle.pairs)):
        for side in (DOWN, UP):
            level = oracle.levels[side, pair]
            short = level > 0 and oracle.reach(pair, side, hidden, level) < level * SHORT
            assert ((pair, side) in named) == short


@pytest.mark.parametrize("far", [1e9, 1e12, 1e15, np.inf])
@pytest.mark.parametrize("times", [1.0, 1e9])
def test_bounds_far_beyond_the_values_do_not_hide_small_moves(far: float, times: float):
    n, relations = cross([flat(3)])
    views = [(np.full(n, -far), np.full(n, far))]
    levels = np.array([[0.2, 0.0, 0.0], [0.3, 0.5, 0.1], [0.0, 0.0, 0.9]])
    problem = scaled(
        made(n, relations, np.array([17.0, 5, 7, 5]), [(0, 1), (0, 2), (0, 3)], levels=levels, views=views), times
    )
    assert not falling_short(Instance(problem), np.array([False, True, True, True]))
    assert len(falling_short(Instance(problem), np.array([False, True, False, False]))) > 0


def test_a_cell_alone_in_a_relation_does_not_move():
    n, relations = cross([flat(3)])
    problem = made(n, relations, np.array([17.0, 5, 7, 5]), [(0, 1)], levels=np.array([[1.0], [2.0], [0.0]]))
    alone = np.array([False, True, False, False])
    assert [(c.side, c.need, c.reach) for c in falling_short(Instance(problem), alone)] == [(DOWN, 1, 0), (UP, 2, 0)]


def test_nobody_asks_for_anything():
    n, relations = cross([flat(3)])
    a = np.array([17.0, 5, 7, 5])
    assert falling_short(Instance(made(n, relations, a, [])), np.zeros(n, dtype=bool)) == []
    assert falling_short(Instance(made(n, relations, a, [(0, 1)])), np.zeros(n, dtype=bool)) == []
