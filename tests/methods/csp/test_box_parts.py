"""Parts of a table are improved side by side: what comes of it is valid, no dearer, and the same whoever does it."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

from sdcdsl.accelerate.csp import box_parts
from sdcdsl.accelerate.csp.box_parts import improve_in_parts, improved, parts_of
from sdcdsl.accelerate.csp.box_search import BoxSearch
from sdcdsl.accelerate.csp.box_state import BoxState, PackedMoves
from sdcdsl.deadline import Deadline
from sdcdsl.executing import SERIAL, Threads
from sdcdsl.methods.pattern_check import falling_short
from tests.methods.csp.test_boxes import assert_in_order, search, table
from tests.waiting import Looks

SHAPE = ((3, 2), (2, 2))


def started(folder: Path, seed: int = 5, shape: tuple[tuple[int, ...], ...] = SHAPE) -> BoxSearch:
    folder.mkdir(exist_ok=True)
    made = search(table(folder, shape, seed))
    assert made.complete(Deadline())
    made.prune()
    return made


def test_parts_are_what_stands_below_codes_of_the_dimension_with_most_of_them(tmp_path: Path):
    made = started(tmp_path)
    part = parts_of(made.table)
    of_code = [made.instance.problem.label(c).split(",")[0] for c in range(len(part))]
    assert len(part) == made.table.size
    for number in range(3):
        mine = [c for c, code in enumerate(of_code) if f"d0{number}" in code.replace(" ", "")[3:]]
        assert len(mine) == 3 * 7  # the code and its two parts, by all codes of the other dimension
        assert (part[mine] == number).all()
    assert sorted(np.unique(part)) == [0, 1, 2]


@pytest.mark.parametrize("seed", [0, 3, 5])
def test_what_parts_exchange_goes_together(seed: int, tmp_path: Path):
    made = started(tmp_path, seed)
    before = made.cost
    for number in range(3):
        improve_in_parts(made, SERIAL, number, Deadline())
        assert made.cost <= before * (1 + 1e-9)
        assert made.proved()
        assert_in_order(made)
        before = made.cost
    assert not falling_short(made.instance, made.hidden)


def test_it_is_the_same_whoever_does_it(tmp_path: Path):
    patterns = []
    for team in (SERIAL, Threads(2)):
        made = started(tmp_path)
        with team:
            improve_in_parts(made, team, 1, Deadline())
        patterns.append(made.hidden)
    assert np.array_equal(patterns[0], patterns[1])


def test_a_copy_that_was_sent_away_does_the_same(tmp_path: Path):
    made = started(tmp_path)
    moves = made.packed()
    here = improved(made.state, moves, 0, [1, 0], 20, Deadline())
    there = improved(*pickle.loads(pickle.dumps((made.state, moves, 0, [1, 0], 20, Deadline()))))
    assert np.array_equal(here[0], there[0])
    assert all(np.array_equal(a, b) for a, b in zip(here[1], there[1], strict=True))
    assert all(np.array_equal(a, b) for a, b in zip(moves, made.packed(), strict=True))  # nobody touched ours


def test_what_is_dearer_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """As if every part had hidden everything, and given up all it was given."""
    made = started(tmp_path)
    hidden, moves = made.hidden, made.packed()

    def worse(_state: BoxState, given: PackedMoves, *_: object) -> box_parts.Exchanged:
        other = search(made.instance.problem)
        other._set_prices(np.random.default_rng(0).random(other.n))
        other.complete(Deadline(), np.random.default_rng(0).random(other.n) * 1e3)
        return np.ones(len(given[0]) - 1, dtype=bool), other.packed(), np.zeros(0, dtype=np.int64), other.cost + 1e9

    monkeypatch.setattr(box_parts, "improved", worse)
    monkeypatch.setattr(made, "prune", lambda: None)
    improve_in_parts(made, SERIAL, 1, Deadline())
    assert np.array_equal(made.hidden, hidden)
    assert len(made.packed()[0]) == len(moves[0])


def test_what_other_parts_found_is_found_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """More is published than the best part publishes alone."""
    costs: list[float] = []

    def recorded(*task: object) -> box_parts.Exchanged:
        made = improved(*task)  # pyright: ignore[reportArgumentType]
        costs.append(made[3])
        return made

    monkeypatch.setattr(box_parts, "improved", recorded)
    gained = []
    for seed in range(2):
        costs.clear()
        made = started(tmp_path / str(seed), seed, ((5, 4), (4, 3)))
        improve_in_parts(made, SERIAL, seed, Deadline())
        assert made.cost <= min(costs) * (1 + 1e-9)
        gained.append(made.cost < min(costs) * (1 - 1e-9))
    assert any(gained)


def test_without_time_nothing_is_exchanged(tmp_path: Path):
    made = started(tmp_path)
    hidden = made.hidden
    improve_in_parts(made, SERIAL, 1, Looks(0.0))
    assert np.array_equal(made.hidden, hidden)
