"""The experiments on tables worked out by hand, and what is said about them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import csr_array

from sdcdsl.deadline import Deadline
from sdcdsl.risk import AT_RISK, CLASSES, SAFE, Trial, assess, unfit
from sdcdsl.risk.assessment import UNDONE, Assessment
from sdcdsl.risk.attacker import Guess
from sdcdsl.risk.attacker_problem import AttackerProblem
from tests.risk.tables import RELEASED, line, table

ALL = ("B1", "B2", "B3", "C")


@pytest.mark.parametrize("norm", ["L1", "L2"])
def test_whoever_knows_the_levels_recomputes_the_cell(norm):
    """x̃ of the total is 25.6 at least and that of the second cell 24 at most, so in L1 the attacker always takes the
    total, as the office did; the level of the first cell binds in both norms."""
    made = assess(line(), RELEASED, ("B3", "C"), {"norm": norm}, seed=1)
    for trial in made.trials:
        assert trial.shares.tolist() == [100, 0, 0, 0, 0, 0, 0, 0]
        assert (trial.recomputed, trial.within, trial.mean, trial.soft) == (1, 1, 0, 0)
        assert trial.verdict == AT_RISK
    assert made.verdict == AT_RISK


def test_whoever_guesses_levels_is_off_by_the_guess():
    made = assess(line(), RELEASED, ("B2",), {"replications": 400, "delta": 0.2}, seed=5)
    (trial,) = made.trials
    # â = 12 - s with s uniform in 12 (0 .. 40 %): the error is |2 - s| of 10, from -20 % to 28 %.
    assert trial.errors.max() < 28.0001
    assert trial.counts[0] == 0
    share = (trial.errors <= 20).mean()
    assert share == pytest.approx(40 / 48, abs=0.05)
    # nearer than the level: below 1 under the truth, below 2 above it
    assert trial.within == pytest.approx(30 / 48, abs=0.06)


def test_the_office_itself_took_another_way():
    """The release 12, 18, 30 is not the closest: the attacker is right about the cell, and not about the others."""
    made = assess(line(), np.array([12.0, 18.0, 30.0]), ("B3",), seed=1)
    assert made.trials[0].recomputed == 1  # the level binds whatever else moves


def test_results_depend_on_the_seed_alone():
    one, same, other = (assess(line(), RELEASED, ALL, seed=s) for s in (1, 1, 2))
    for a, b, c in zip(one.trials, same.trials, other.trials, strict=True):
        np.testing.assert_array_equal(a.errors, b.errors)
        assert a.experiment in ("B3", "C") or (a.errors != c.errors).any()
    fewer = assess(line(), RELEASED, ("B2",), {"replications": 3}, seed=1)
    np.testing.assert_array_equal(fewer.trials[0].errors, one.trials[1].errors[:3])


def test_a_table_in_other_units_is_as_safe():
    one = assess(line(), RELEASED, ALL, seed=3)
    for times in (1e-6, 1e9):
        problem = table([10 * times, 20 * times, 30 * times], [{0: 1.0, 1: 1.0, 2: -1.0}], {0: (times, 2 * times)})
        other = assess(problem, RELEASED * times, ALL, seed=3)
        for a, b in zip(one.trials, other.trials, strict=True):
            np.testing.assert_allclose(a.errors, b.errors, atol=1e-6)


def test_progress_and_time():
    told = []
    assess(line(), RELEASED, ("B1", "B2"), {"replications": 3}, seed=1, progress=lambda *x: told.append(x))
    assert told == [(i, 6) for i in range(1, 7)]
    made = assess(line(), RELEASED, ALL, seed=1, deadline=Deadline(0.0))
    assert not made.complete and made.verdict == UNDONE
    assert "the time was over" in made.reasons[-1]


def test_without_levels_there_is_nothing_to_say():
    problem = table([10, 20, 30], [{0: 1.0, 1: 1.0, 2: -1.0}], {})
    made = assess(problem, RELEASED, ALL, seed=1)
    assert made.verdict == UNDONE and made.complete
    assert unfit(problem, RELEASED) == "no cell has a level"


def test_tables_that_are_not_adjusted():
    assert unfit(line(), RELEASED) is None
    assert unfit(line(), np.array([10.0, 20.0, 30.0])) == "every value in it is the true one"
    assert unfit(line(), np.array([np.nan, 20.0, 30.0])) == "1 cell with a level has no value in it"


# ---- soft bounds ------------------------------------------------------------------------------------


def guess(l, u, w) -> Guess:
    l, u, w = (np.array(x, dtype=float) for x in (l, u, w))
    return Guess(l, u, w, w)


M = csr_array(np.array([[1.0, 1.0, -1.0]]))


@pytest.mark.parametrize("norm", ["L1", "L2"])
def test_guesses_that_contradict_each_other_give_way_where_it_is_cheapest(norm):
    """z1 ≥ 2 and z2 ≥ 3 with z3 ≤ 4: 1 is missing, and the last bound is the cheapest to break."""
    found = AttackerProblem(M, norm, 1000.0).solve(guess([2, 3, -9], [9, 9, 4], [1.0, 1.0, 0.1]), Deadline())
    assert found.soft and found.z is not None
    np.testing.assert_allclose(found.z, [2, 3, 5], atol=1e-6)


@pytest.mark.parametrize("norm", ["L1", "L2"])
def test_a_bound_below_its_own_level(norm):
    """z1 ≥ 5 and z1 ≤ 3: wrong by 2 wherever it lies between, so the norm decides for 3."""
    found = AttackerProblem(M, norm, 1000.0).solve(guess([5, -9, -9], [3, 9, 9], [1.0, 1.0, 1.0]), Deadline())
    assert found.soft
    assert found.z is not None and found.z[0] == pytest.approx(3, abs=1e-6)


def test_soft_bounds_against_a_plain_linear_program():
    draw = np.random.default_rng(7)
    for _ in range(20):
        l = draw.integers(-4, 6, 3).astype(float)
        u = l + draw.integers(-2, 5, 3)
        w = draw.uniform(0.5, 2.0, 3)
        found = AttackerProblem(M, "L1", 50.0).solve(guess(l, u, w), Deadline())
        assert found.z is not None
        if found.soft:
            assert _soft_cost(found.z, l, u, w) == pytest.approx(_least_soft_cost(l, u, w), rel=1e-6)


def _soft_cost(z, l, u, w) -> float:
    inside = np.clip(z, np.minimum(l, u), np.maximum(l, u))
    return float(w @ np.abs(inside) + 51.0 * w @ np.abs(z - inside))


def _least_soft_cost(l, u, w) -> float:
    """y⁺, y⁻, s⁺, s⁻ of the three cells; y between the ends whichever is larger."""
    low, high = np.minimum(l, u), np.maximum(l, u)
    rows, unit = M.toarray(), np.eye(3)
    found = linprog(
        np.concatenate([w, w, 51 * w, 51 * w]),
        A_eq=np.hstack([rows, -rows, rows, -rows]),
        b_eq=[0.0],
        A_ub=np.block([[unit, -unit, 0 * unit, 0 * unit], [-unit, unit, 0 * unit, 0 * unit]]),
        b_ub=np.concatenate([high, -low]),
    )
    return float(found.fun)


# ---- what is said -----------------------------------------------------------------------------------


def trial(errors, experiment="B1", share=None) -> Trial:
    errors = np.array([errors], dtype=float)
    return Trial(experiment, "L1", np.arange(errors.shape[1]), errors, errors / 10 if share is None else share)


def test_classes_have_the_paper_s_ends():
    errors = [0.0, 9e-4, 2e-3, 5.0, 5.001, 10.0, 20.0, 20.5, 30.0, 50.0, 100.0, 100.5, np.inf]
    counts = dict(zip(CLASSES, trial(errors).counts.tolist(), strict=True))
    assert counts == {
        "0": 2, "(0,5]": 2, "(5,10]": 2, "(10,20]": 1, "(20,30]": 2, "(30,50]": 1, "(50,100]": 1, ">100": 2
    }  # fmt: skip


def test_when_a_scenario_is_at_risk():
    assert trial([30.0] * 100).verdict == SAFE
    assert trial([30.0] * 99 + [0.0]).verdict == SAFE  # one in a hundred may be luck
    assert trial([30.0] * 98 + [0.0] * 2).verdict == AT_RISK
    assert trial([4.0] * 51 + [30.0] * 49).verdict == AT_RISK  # most within half of the level, 10
    assert trial([6.0] * 90 + [30.0] * 10).verdict == SAFE
    assert trial([6.0] * 91 + [30.0] * 9).verdict == AT_RISK


def assessment(*trials: Trial) -> Assessment:
    return Assessment("t", trials, 1, {"replications": 1}, 0.1)


def test_a_verdict_of_safe_does_not_hide_what_was_not_tried():
    made = assessment(trial([30.0] * 10), trial([40.0] * 10, "B2"))
    assert made.verdict == SAFE
    first, second = made.reasons
    assert first == "B1, B2: no value is recomputed; at most 0 % of the guesses are nearer than the protection levels"
    assert second.startswith("B3 and C were not run. Tables that are as near as possible to the truth are mostly")


def test_the_worst_experiment_decides():
    made = assessment(trial([30.0] * 10), trial([0.0] * 10, "B3"))
    assert made.verdict == AT_RISK
    assert made.reasons[0].startswith("B3: ")
    assert "100 % of the sensitive values are recomputed exactly" in made.reasons[0]
    assert "controlled tabular adjustment as such" in made.reasons[1]
    assert made.as_json()["experiments"][1]["classes"]["0"] == 100
