"""One adjustment for all requirements: it adds up, fits both ways round, and what it touches is a valid pattern."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sdcdsl.accelerate.csp import local_search as searching
from sdcdsl.accelerate.csp.cheapest_direction import Cheapest
from sdcdsl.accelerate.csp.heuristics import ByMoves
from sdcdsl.accelerate.csp.joint_adjustment import joint_adjustment
from sdcdsl.accelerate.csp.tuning import LOCAL
from sdcdsl.deadline import Deadline
from sdcdsl.methods.instance import Instance
from tests.attack.tables import cross, flat
from tests.methods.oracle import Oracle
from tests.methods.tiny_tables import made, tiny_table

SEEDS = [0, 3, 6, 9, 12, 14, 25]


@pytest.mark.parametrize("seed", SEEDS)
def test_one_adjustment_fits_whoever_attacks_and_serves_some(seed: int) -> None:
    instance = Instance(tiny_table(seed))
    asked = instance.requirements
    move = joint_adjustment(instance, asked, np.arange(len(asked)), instance.w, Deadline())
    if move is None:  # none can go up at a price that is paid
        return
    z = np.zeros(instance.n)
    z[move[0]] = move[1]
    assert np.abs(instance.M @ z).max() <= 1e-6 * np.abs(z).max()
    served = np.zeros(len(asked), dtype=bool)
    for k in range(len(asked)):
        most = np.minimum(*instance.slack(int(asked.attacker[k])))
        assert (np.abs(z) <= most * (1 + 1e-6) + 1e-6).all()
        served[k] = abs(z[asked.cell[k]]) >= asked.need[k] * (1 - 1e-6)
    assert served.any()


def test_one_adjustment_serves_all_where_there_is_room() -> None:
    """Nine cells that may go anywhere, two of them in one row with a level each."""
    n, relations = cross([flat(2)] * 2)
    problem = made(n, relations, np.full(n, 100.0), [(0, 4), (0, 5)], levels=np.full((3, 2), 10.0) * [[1], [1], [0]])
    instance = Instance(problem)
    asked = instance.requirements
    move = joint_adjustment(instance, asked, np.arange(len(asked)), instance.w, Deadline())
    assert move is not None
    z = np.zeros(n)
    z[move[0]] = move[1]
    assert z[4] >= 10 - 1e-6 and z[5] >= 10 - 1e-6


def test_where_nobody_is_left_there_is_no_adjustment() -> None:
    instance = Instance(tiny_table(0))
    none = np.zeros(0, dtype=np.int64)
    assert joint_adjustment(instance, instance.requirements, none, instance.w, Deadline()) is None


@pytest.mark.parametrize("seed", SEEDS)
def test_a_pattern_begun_in_haste_is_valid_and_made_anew(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """As if every move took long, and the first pattern no time."""
    monkeypatch.setattr(searching, "LOCAL", replace(LOCAL, patience=0.0, few=0, trial=0))
    monkeypatch.setattr(Cheapest, "slow", property(lambda _: True))
    problem = tiny_table(seed)
    oracle, instance = Oracle(problem), Instance(problem)
    finder = ByMoves(instance, instance.w, Deadline(), lambda standing: None, 1)
    found = finder.first()
    assert found is not None and oracle.valid(found[0])
    if finder.search is None or not finder.search.hasty:
        return
    again = finder.better(Deadline())
    assert again is not None and not finder.search.hasty
    assert oracle.valid(again[0]) and again[1] <= found[1] * (1 + 1e-9)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_known_pattern_is_gone_on_from(seed: int) -> None:
    problem = tiny_table(seed)
    oracle, instance = Oracle(problem), Instance(problem)
    before = ByMoves(instance, instance.w, Deadline(), lambda standing: None, 1)
    found = before.first()
    assert found is not None
    again = ByMoves(instance, instance.w, Deadline(), lambda standing: None, 2).first(found[0])
    assert again is not None and oracle.valid(again[0])
    if before.search is not None:  # not everything hidden, thinned out
        assert not (again[0] & ~found[0]).any()
