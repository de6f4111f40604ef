"""Witnesses and claims on a table whose answers are known: II·C can be anything from 5 to 30."""

from __future__ import annotations

import numpy as np
import pytest

from sdcdsl.proof.system import Problem, Regions
from sdcdsl.proof.witness import Claim, Witness, WitnessCheck, residual, snapped, whole
from tests.proof.worlds import HIDDEN, II_C, INVESTMENT, SWAP, grid, hidden, indices, pairs, regions

NONE = indices()


def world(*rows, known=(), box=None, values=INVESTMENT) -> Problem:
    seen = regions([box or hidden(values, HIDDEN)], [0, 0], known)
    return Problem(grid(values), seen, pairs(*rows))


def claimed(problem: Problem, step: float, up=NONE, down=NONE, move=SWAP, cells=HIDDEN):
    return WitnessCheck(problem, Witness(cells, move)).claims(step, up, down)


@pytest.mark.parametrize(("step", "holds"), [(17, True), (18, False), (17 + 1e-6, False)])
def test_down_to_five(step, holds):
    got = claimed(world((II_C, 0, 17, 8, 25)), step, down=indices(0))
    assert (not got.reasons) == holds
    if holds:
        assert (got.down.tolist(), got.tolerance) == ([17], 0)
    else:
        assert "outside the box of attacker 0 in cell 8" in got.reasons[0]


@pytest.mark.parametrize(("step", "holds"), [(-8, True), (-9, False)])
def test_up_to_thirty(step, holds):
    got = claimed(world((II_C, 0, 17, 8, 25)), step, up=indices(0))
    assert (not got.reasons) == holds


def test_the_wrong_way():
    got = claimed(world((II_C, 0, 17, 8, 25)), 5, up=indices(0))
    assert got.reasons == ["the table does not move the cell of pair 0 up"]


def test_a_move_that_breaks_relations():
    problem = world((II_C, 0, 17, 8, 25))
    got = claimed(problem, 1, down=indices(0), move=np.array([1.0, -1.0, -1.0, 2.0]))
    assert any("breaks relation 2 by 1" in reason for reason in got.reasons)
    assert residual(problem.system, HIDDEN, SWAP).largest == 0


def test_a_published_cell_cannot_move():
    problem = world((II_C, 0, 17, 8, 25))
    move = np.array([1.0, -1.0, -1.0, 1.0])
    got = claimed(problem, 1, up=NONE, down=indices(0), cells=indices(5, 6, 9, 10), move=move)
    assert got.reasons[0] in {f"the table lies 1 outside the box of attacker 0 in cell {cell}" for cell in (5, 9)}


def test_what_one_attacker_knows_binds_only_that_one():
    problem = world((II_C, 0, 17, 8, 0), (II_C, 1, 13, 8, 0), known=[(1, II_C, 10.0, np.inf)])
    check = WitnessCheck(problem, Witness(HIDDEN, SWAP))
    assert not check.of(Claim(0, 0, 13.0, NONE, indices(0))).reasons
    got = check.of(Claim(0, 1, 13.0, NONE, indices(1)))
    assert got.reasons == ["the table lies 1 outside the box of attacker 1 in cell 6"]
    both = check.claims(13.0, NONE, indices(0, 1))
    assert both.reasons == got.reasons
    assert not check.claims(12.0, NONE, indices(0, 1)).reasons


def test_a_claim_about_somebody_elses_pair():
    problem = world((II_C, 0, 17, 8, 0), (II_C, 1, 13, 8, 0))
    got = WitnessCheck(problem, Witness(HIDDEN, SWAP)).of(Claim(0, 0, 1.0, NONE, indices(1)))
    assert "pair 1 is not one of attacker 0" in got.reasons


def test_a_box_without_the_truth_proves_nothing():
    """The move leaves cell 0 alone, but nobody thinks possible what the box excludes there."""
    low, high = hidden(INVESTMENT, HIDDEN)
    low[0] = high[0] = 21.0
    got = claimed(world((II_C, 0, 17, 8, 25), box=(low, high)), 17, down=indices(0))
    assert got.reasons == ["the table lies 1 outside the box of attacker 0 in cell 0"]
    got = claimed(world((II_C, 1, 17, 8, 25), known=[(1, 0, 21.0, 30.0)]), 17, down=indices(0))
    assert got.reasons == ["the table lies 1 outside the box of attacker 1 in cell 0"]


def test_tolerance_is_a_share_of_the_smallest_level():
    """A step of 17 (1 + x) leaves the box by 17 x."""
    problem = world((II_C, 0, 10, 0, 0), (II_C, 0, 0, 0, 1))
    step = 17 + 5e-9
    assert not claimed(problem, step, down=indices(0)).reasons
    assert claimed(problem, step, down=indices(0)).tolerance == pytest.approx(5e-10, rel=1e-6)
    assert claimed(problem, step, down=indices(0, 1)).reasons
    assert claimed(problem, 17 + 2e-8, down=indices(0)).reasons


def test_a_pair_that_asks_for_nothing_allows_for_nothing():
    problem = world((II_C, 0, 0, 0, 0))
    assert not claimed(problem, 17, down=indices(0)).reasons
    assert claimed(problem, 17 + 1e-12, down=indices(0)).reasons


def test_decimals_touch_their_bound_within_the_tolerance():
    values = np.array([0.3, 0.7, 1.0, 0.4, 0.9, 1.3, 0.7, 1.6, 2.3])
    inside = indices(0, 1, 3, 4)
    problem = Problem(grid(values, 3, 3), regions([hidden(values, inside)], [0]), pairs((0, 0, 0.3, 0, 0)))
    got = claimed(problem, 0.1, down=indices(0), move=np.array([-3.0, 3, 3, -3]), cells=inside)
    assert not got.reasons
    assert 0 < got.tolerance < 1e-15


def test_the_box_of_an_attacker():
    seen = regions(
        [hidden(INVESTMENT, HIDDEN)],
        [0, 0, 0],
        known=[(2, II_C, 12, 40), (1, II_C, 10.0, np.inf), (2, 4, 1, 9), (2, II_C, 3, 30)],
    )
    everybody, of_view = np.arange(3), np.zeros(3, dtype=bool)
    low, high = seen.boxes(everybody, of_view, np.full(4, 2), indices(0, 4, II_C, 8))
    assert (low.tolist(), high.tolist()) == ([20, 1, 12, 0], [20, 9, 30, np.inf])
    assert seen.boxes(everybody, of_view, everybody, np.full(3, II_C))[0].tolist() == [0, 10, 12]
    assert seen.boxes(everybody, everybody == 2, everybody, np.full(3, II_C))[0].tolist() == [0, 10, 0]


def test_many_attackers_at_once_are_as_each_alone():
    rng = np.random.default_rng(5)
    count = 300
    knows = rng.integers(0, 22, count).astype(float)
    box = hidden(INVESTMENT, HIDDEN)
    everyone = np.arange(count)
    seen = Regions(
        np.array([box[0], box[0]]),
        np.array([box[1], box[1]]),
        everyone % 2,
        everyone,
        np.full(count, II_C),
        knows,
        np.full(count, np.inf),
    )
    asked = pairs(*((II_C, k, 1, 0, 0) for k in range(count)))
    check = WitnessCheck(Problem(grid(INVESTMENT), seen, asked), Witness(HIDDEN, SWAP))
    step = 10.0
    alone = [not check.claims(step, NONE, indices(k)).reasons for k in range(count)]
    assert alone == [bool(INVESTMENT[II_C] - step >= k) for k in knows]
    assert not check.claims(step, NONE, np.flatnonzero(alone)).reasons
    assert check.claims(step, NONE, everyone).reasons


@pytest.mark.parametrize(
    ("move", "numbers", "step"),
    [
        ([1.0, -1.0], [1, -1], 1.0),
        ([10.0, -20.0], [1, -2], 10.0),
        ([0.5, -0.5], [1, -1], 0.5),
        ([1 / 3 + 1e-10, -2 / 3], [1, -2], 1 / 3),
        ([12.34, -0.01], [1234, -1], 0.01),
        ([1e-12, 7.0000000001], [0, 1], 7.0),
    ],
)
def test_snapped(move, numbers, step):
    found = snapped(np.array(move))
    assert found is not None
    assert found[0].tolist() == numbers
    assert found[1] == pytest.approx(step)


def test_snapped_gives_up_and_asks():
    assert snapped(np.array([np.pi, np.e])) is None
    assert snapped(np.array([0.0, 0.0])) is None
    assert snapped(np.array([1e16, 0.3])) is None
    wanted = whole(np.array([0.5, 0.25]), lambda numbers: bool(numbers.sum() > 5))
    assert wanted is not None
    assert wanted[1] == 8
