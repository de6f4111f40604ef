"""What attackers know and guess, cell by cell."""

from __future__ import annotations

import numpy as np
import pytest

from sdcdsl.risk.attacker import Attacker
from tests.risk.tables import RELEASED, line, table


def attacker(seed: int = 1, delta: float = 0.2, **changes) -> Attacker:
    return Attacker(line(**changes), RELEASED, delta, seed)


def test_beta_is_the_largest_relative_deviation():
    assert attacker().beta == pytest.approx(0.2)  # 2 of 10; the total moved by 2 of 30


def test_known_senses_and_levels_are_those_of_the_office():
    guess = attacker().guess("B3", "L1", 0)
    assert guess.l[0] == 2  # upl: the cell was moved up
    assert guess.u[0] > 2
    assert (guess.l[1:] == -np.inf).all()  # no upper bound is known: â may be any higher


def test_a_cell_that_went_down_is_known_to_have_done_so():
    made = Attacker(line(), np.array([9.0, 20.0, 29.0]), 0.2, 1)
    guess = made.guess("B3", "L1", 0)
    assert (guess.l[0], guess.u[0]) == (-np.inf, -1)  # -lpl


def test_bounds_move_with_the_guessed_values_except_in_c():
    made = attacker(high=100.0)
    c, b3 = made.guess("C", "L1", 4), made.guess("B3", "L1", 4)
    assert c.u.tolist() == [10, 20, 30]  # a - 0
    assert c.l.tolist() == [2, -80, -70]  # the level; a - 100
    x = 1 / b3.w  # what was drawn
    np.testing.assert_allclose(b3.u, x)
    np.testing.assert_allclose(b3.l[1:], x[1:] - 100)
    np.testing.assert_array_equal(c.w, b3.w)  # the same draws, so that experiments differ by knowledge alone


def test_drawn_values_stay_within_beta_of_the_released_ones():
    made = attacker()
    drawn = np.array([1 / made.guess("B3", "L1", r).w for r in range(200)]) / RELEASED
    assert drawn.min() >= 0.8 and drawn.max() <= 1.2
    assert drawn.min() < 0.81 and drawn.max() > 1.19  # and use all of it


def test_drawn_levels_stay_within_delta_of_their_share():
    made = attacker(delta=0.1)
    levels = np.array([made.guess("B2", "L1", r).l[0] for r in range(200)])
    assert levels.min() >= 12 * 0.1 and levels.max() <= 12 * 0.3  # upl is 20 % of a, applied to x = 12
    assert levels.min() < 12 * 0.105 and levels.max() > 12 * 0.295
    wide = attacker(delta=0.5)
    assert min(wide.guess("B2", "L1", r).l[0] for r in range(200)) >= 0  # a level is not below zero


def test_b1_draws_senses_too():
    guesses = [attacker().guess("B1", "L1", r) for r in range(100)]
    ups = sum(g.l[0] > 0 for g in guesses)
    assert 30 < ups < 70
    assert all(g.l[0] > 0 or g.u[0] < 0 for g in guesses)


def test_weights_of_both_norms():
    made = attacker()
    one, two = made.guess("B3", "L1", 0), made.guess("B3", "L2", 0)
    np.testing.assert_allclose(two.w, one.w**2)
    zero = Attacker(table([0, 20, 20], [{0: 1.0, 1: 1.0, 2: -1.0}], {1: (1.0, 2.0)}), np.array([0.0, 22, 22]), 0.2, 1)
    assert zero.guess("B3", "L1", 0).w[0] == zero.guess("B3", "L2", 0).w[0] == 1


def test_the_seed_decides():
    one, same, other = (attacker(seed=s).guess("B1", "L1", 3) for s in (1, 1, 2))
    np.testing.assert_array_equal(one.w, same.w)
    assert (one.w != other.w).all()


def test_cells_that_had_to_stay_are_known():
    guess = attacker(stays=(1,)).guess("B1", "L1", 0)
    assert (guess.l[1], guess.u[1]) == (0, 0)


def test_a_direction_that_does_not_protect_has_no_infinite_level():
    made = Attacker(table([10, 20, 30], [{0: 1.0, 1: 1.0, 2: -1.0}], {0: (0.0, 2.0)}), RELEASED, 0.2, 1)
    assert all(np.isfinite(made.guess("B1", "L1", r).u[0]) or made.guess("B1", "L1", r).l[0] > 0 for r in range(20))


def test_sums_that_nobody_publishes_follow_from_their_members_and_cost_nothing():
    rows = [{0: 1.0, 1: 1.0, 2: -1.0}, {0: 1.0, 1: 1.0, 3: -1.0}]
    problem = table([10, 20, 30, 30], rows, {0: (1.0, 2.0), 3: (1.0, 2.0)}, sums=(3,))
    made = Attacker(problem, np.array([12.0, 20.0, 32.0, np.nan]), 0.2, 1)
    assert made.x[3] == 32
    guess = made.guess("B3", "L1", 0)
    assert guess.w[3] == 0 and guess.penalty[3] > 0
    assert guess.l[3] == 2
