"""Witnesses and claims on a table whose answers are known: II·C can be anything from 5 to 30."""

from __future__ import annotations

import numpy as np
import pytest

from sdcdsl.proof.rational_guess import snapped, whole
from sdcdsl.proof.system import ProofProblem, Regions
from sdcdsl.proof.witness import Claim, ReachedLevels, Witness, Witnesses, residual
from tests.proof.worlds import HIDDEN, II_C, INVESTMENT, SWAP, grid, hidden, indices, pairs, regions

NONE = indices()


def world(*rows, known=(), box=None, values=INVESTMENT) -> ProofProblem:
    seen = regions([box or hidden(values, HIDDEN)], [0, 0], known)
    return ProofProblem(grid(values), seen, pairs(*rows))


def claimed(problem: ProofProblem, step: float, up=NONE, down=NONE, move=SWAP, cells=HIDDEN) -> ReachedLevels:
    return Witnesses(problem, [Witness(cells, move)]).claims([Claim(0, step, up, down)])


def reasons(got: ReachedLevels, claim: int = 0) -> list[str]:
    return got.reasons.get(claim, [])


@pytest.mark.parametrize(("step", "holds"), [(17, True), (18, False), (17 + 1e-6, False)])
def test_down_to_five(step, holds):
    got = claimed(world((II_C, 0, 17, 8, 25)), step, down=indices(0))
    assert (not got.reasons) == holds
    if holds:
        assert (got.far.tolist(), got.up.tolist(), got.tolerance.tolist()) == ([17], [False], [0])
    else:
        assert "outside the box of attacker 0 in cell 8" in reasons(got)[0]


@pytest.mark.parametrize(("step", "holds"), [(-8, True), (-9, False)])
def test_up_to_thirty(step, holds):
    got = claimed(world((II_C, 0, 17, 8, 25)), step, up=indices(0))
    assert (not got.reasons) == holds


def test_the_wrong_way():
    got = claimed(world((II_C, 0, 17, 8, 25)), 5, up=indices(0))
    assert reasons(got) == ["the table does not move the cell of pair 0 up"]


def test_a_move_that_breaks_relations():
    problem = world((II_C, 0, 17, 8, 25))
    got = claimed(problem, 1, down=indices(0), move=np.array([1.0, -1.0, -1.0, 2.0]))
    assert any("breaks relation 2 by 1" in reason for reason in reasons(got))
    assert residual(problem.system, Witness(HIDDEN, SWAP)).largest.tolist() == [0]


def test_a_published_cell_cannot_move():
    problem = world((II_C, 0, 17, 8, 25))
    move = np.array([1.0, -1.0, -1.0, 1.0])
    got = claimed(problem, 1, up=NONE, down=indices(0), cells=indices(5, 6, 9, 10), move=move)
    assert reasons(got)[0] in {f"the table lies 1 outside the box of attacker 0 in cell {cell}" for cell in (5, 9)}


def test_what_one_attacker_knows_binds_only_that_one():
    problem = world((II_C, 0, 17, 8, 0), (II_C, 1, 13, 8, 0), known=[(1, II_C, 10.0, np.inf)])
    check = Witnesses(problem, [Witness(HIDDEN, SWAP)])
    alone = [Claim(0, 13.0, NONE, indices(0)), Claim(0, 13.0, NONE, indices(1))]
    got = check.claims(alone)
    assert got.reasons == {1: ["the table lies 1 outside the box of attacker 1 in cell 6"]}
    both = check.claims([Claim(0, 13.0, NONE, indices(0, 1))])
    assert reasons(both) == reasons(got, 1)
    assert not check.claims([Claim(0, 12.0, NONE, indices(0, 1))]).reasons


def test_a_box_without_the_truth_proves_nothing():
    """The move leaves cell 0 alone, but nobody thinks possible what the box excludes there."""
    low, high = hidden(INVESTMENT, HIDDEN)
    low[0] = high[0] = 21.0
    got = claimed(world((II_C, 0, 17, 8, 25), box=(low, high)), 17, down=indices(0))
    assert reasons(got) == ["the table lies 1 outside the box of attacker 0 in cell 0"]
    got = claimed(world((II_C, 1, 17, 8, 25), known=[(1, 0, 21.0, 30.0)]), 17, down=indices(0))
    assert reasons(got) == ["the table lies 1 outside the box of attacker 1 in cell 0"]


def test_tolerance_is_a_share_of_the_smallest_level():
    """A step of 17 (1 + x) leaves the box by 17 x."""
    problem = world((II_C, 0, 10, 0, 0), (II_C, 0, 0, 0, 1))
    step = 17 + 5e-9
    assert not claimed(problem, step, down=indices(0)).reasons
    assert claimed(problem, step, down=indices(0)).tolerance[0] == pytest.approx(5e-10, rel=1e-6)
    assert claimed(problem, step, down=indices(0, 1)).reasons
    assert claimed(problem, 17 + 2e-8, down=indices(0)).reasons


def test_a_pair_that_asks_for_nothing_allows_for_nothing():
    problem = world((II_C, 0, 0, 0, 0))
    assert not claimed(problem, 17, down=indices(0)).reasons
    assert claimed(problem, 17 + 1e-12, down=indices(0)).reasons


def test_decimals_touch_their_bound_within_the_tolerance():
    values = np.array([0.3, 0.7, 1.0, 0.4, 0.9, 1.3, 0.7, 1.6, 2.3])
    inside = indices(0, 1, 3, 4)
    problem = ProofProblem(grid(values, 3, 3), regions([hidden(values, inside)], [0]), pairs((0, 0, 0.3, 0, 0)))
    got = claimed(problem, 0.1, down=indices(0), move=np.array([-3.0, 3, 3, -3]), cells=inside)
    assert not got.reasons
    assert 0 < got.tolerance[0] < 1e-15


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
    check = Witnesses(ProofProblem(grid(INVESTMENT), seen, asked), [Witness(HIDDEN, SWAP)])
    step = 10.0
    together = check.claims([Claim(0, step, NONE, indices(k)) for k in range(count)])
    alone = [not check.claims([Claim(0, step, NONE, indices(k))]).reasons for k in range(count)]
    assert alone == [bool(INVESTMENT[II_C] - step >= k) for k in knows]
    assert sorted(together.reasons) == np.flatnonzero(~np.array(alone)).tolist()
    assert not check.claims([Claim(0, step, NONE, np.flatnonzero(alone))]).reasons
    assert check.claims([Claim(0, step, NONE, everyone)]).reasons


def test_witnesses_together_are_as_each_alone():
    """Whole and broken moves, moves that break relations, leave boxes or touch nothing, in one batch."""
    problem = world((II_C, 0, 17, 8, 25), (II_C, 1, 13, 8, 0), known=[(1, II_C, 10.0, np.inf)])
    moves = [
        Witness(HIDDEN, SWAP),
        Witness(HIDDEN, SWAP * 0.3),
        Witness(HIDDEN, SWAP + np.array([0, 0, 0, 1e-7])),
        Witness(HIDDEN, np.array([1.0, -1.0, -1.0, 2.0])),
        Witness(NONE, np.zeros(0)),
        Witness(indices(5, 6, 9, 10), np.array([1.0, -1.0, -1.0, 1.0])),
        Witness(HIDDEN, SWAP * (1 + 2.0**-40)),
    ]
    claims = [Claim(i, step, NONE, indices(0, 1)) for i in range(len(moves)) for step in (1.0, 12.0, 14.0, 18.0, -1.0)]
    got = Witnesses(problem, moves).claims(claims)
    assert len(got.reasons) < len(claims)
    for number, claim in enumerate(claims):
        alone = Witnesses(problem, [moves[claim.witness]]).claims([Claim(0, claim.step, claim.up, claim.down)])
        assert reasons(got, number) == reasons(alone)
        assert got.tolerance[number] == alone.tolerance[0]
        assert got.far[got.claim == number].tolist() == alone.far.tolist()


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
