"""The search keeps its books: every state is a valid pattern whose moves, users and certificates agree."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sdcdsl.accelerate.csp import local_search as searching
from sdcdsl.accelerate.csp.heuristics import ByMoves, thinned
from sdcdsl.accelerate.csp.local_search import LocalSearch, SearchState
from sdcdsl.accelerate.csp.tuning import LOCAL
from sdcdsl.deadline import Deadline
from sdcdsl.methods.instance import Instance
from tests.methods.oracle import SHORT, Oracle, furthest
from tests.methods.tiny_tables import changed, scaled, tiny_table

SEEDS = [0, 3, 6, 9, 12, 14, 25]


def finder(problem, seed: int = 1) -> ByMoves:
    instance = Instance(problem)
    return ByMoves(instance, instance.w, Deadline(), lambda progress: None, seed)


def assert_in_order(search: LocalSearch, state: SearchState) -> None:
    pool = search.pool
    assert (state.moves < pool.count).all()
    assert np.array_equal(np.bincount(pool.cells_of(state.moves), minlength=len(state.users)), state.users)
    assert np.array_equal(np.bincount(pool.covered_by(state.moves), minlength=len(state.count)), state.count)
    assert (state.count > 0).all()
    assert state.cost == pytest.approx(search.weight[state.users > 0].sum())


@pytest.mark.parametrize("seed", SEEDS)
def test_every_pattern_on_the_way_is_valid_and_none_is_dearer_than_before(seed: int):
    problem = tiny_table(seed)
    oracle, by_moves = Oracle(problem), finder(problem)
    best = oracle.cheapest()
    found = by_moves.first()
    assert found is not None and best is not None
    before = np.inf
    for _ in range(6):
        hidden, cost = found
        assert oracle.valid(hidden)
        assert cost == pytest.approx(oracle.cost(hidden))
        assert best * (1 - 1e-9) <= cost <= before
        before = cost * (1 + 1e-6)
        if by_moves.search is not None and by_moves._state is not None:
            assert_in_order(by_moves.search, by_moves._state)
        found = by_moves.better(Deadline())
        if found is None:
            break


@pytest.mark.parametrize("seed", [1, 3, 12, 14])
def test_moves_that_are_forgotten_take_no_state_with_them(seed: int, monkeypatch: pytest.MonkeyPatch):
    """The pool is numbered anew all the time, also while patterns of others are completed."""
    monkeypatch.setattr(searching, "LOCAL", replace(LOCAL, most_moves=10))
    problem = tiny_table(seed, "2 × 2 × 2" if seed % 2 else "linked")
    oracle, by_moves, draw = Oracle(problem), finder(problem), np.random.default_rng(seed)
    assert by_moves.first() is not None
    if by_moves.search is None:
        return
    for _ in range(5):
        for found in (
            by_moves.better(Deadline()),
            by_moves.complete(oracle.everything() & (draw.random(oracle.n) < 0.7)),
        ):
            assert found is None or oracle.valid(found[0])
            assert by_moves._state is not None and by_moves.search.best is not None
            assert_in_order(by_moves.search, by_moves._state)
            assert_in_order(by_moves.search, by_moves.search.best)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_move_certifies_only_what_its_cells_allow(seed: int):
    """With just the cells of the move hidden, the attacker of a side it certifies is driven as far as needed."""
    problem = tiny_table(seed)
    by_moves, oracle = finder(problem), Oracle(problem)
    by_moves.first()
    if by_moves.search is None:
        return
    pool, sides = by_moves.search.pool, by_moves.search.requirements
    for move in range(min(pool.count, 12)):
        cells = np.isin(np.arange(oracle.n), pool.cells(move))
        for side in pool.covers[move]:
            need = float(sides.need[side])
            down, up = (np.where(cells, slack, 0.0) for slack in oracle._slack[int(sides.attacker[side])])
            reach = furthest(oracle.M, down, up, int(sides.cell[side]), int(sides.side[side]), need)
            assert reach >= need * SHORT


@pytest.mark.parametrize("seed", [6, 14, 42])
def test_costs_in_other_units_lead_to_the_same_pattern(seed: int):
    problem = tiny_table(seed)
    w = problem.dataset["w"].values
    patterns = []
    for other in (problem, changed(problem, w=w * 1e11), changed(problem, w=w * 1e-9), scaled(problem, 1e9)):
        by_moves = finder(other)
        by_moves.first()
        found = by_moves.better(Deadline()) or by_moves.first()
        assert found is not None
        patterns.append(found[0].tolist())
    assert all(pattern == patterns[0] for pattern in patterns)


@pytest.mark.parametrize("seed", [4, 11])
def test_thinned_patterns_have_nothing_to_spare(seed: int):
    problem = tiny_table(seed)
    instance, oracle = Instance(problem), Oracle(problem)
    hidden = thinned(instance, oracle.everything(), instance.w, Deadline())
    assert oracle.valid(hidden)
    for cell in oracle.choice[hidden[oracle.choice]]:
        less = hidden.copy()
        less[cell] = False
        assert not oracle.valid(less)
    assert np.array_equal(thinned(instance, oracle.everything(), instance.w, Deadline(0)), oracle.everything())


def test_no_time_no_pattern():
    problem = tiny_table(14)
    instance = Instance(problem)
    assert ByMoves(instance, instance.w, Deadline(0), lambda progress: None, 0).first() is None
