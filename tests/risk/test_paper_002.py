"""Paper 002, Tables 2 to 9, on the tables of CSPLIB that are at hand: protected with all senses up and weights 1/a."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from sdcdsl.methods.cta.adjustment import adjustment
from sdcdsl.numerics.nearest.l1 import L1
from sdcdsl.numerics.nearest.l2 import L2
from sdcdsl.risk import AT_RISK, assess
from sdcdsl.status import OPTIMAL
from tests.bind.policies import bind_file
from tests.conftest import ROOT, SHARED_DATA

POLICY = ROOT / "tests" / "data_policies" / "csplib.sdc"
FEW = {"hier13": 2}  # replications, where ten take long


@cache
def protected(name: str, norm: str):
    path = SHARED_DATA / "csplib" / f"{name}.jj"
    if not path.is_file():
        pytest.skip(f"{name} is not in {path.parent}")
    problem = bind_file(POLICY, {"t": path})["t"]
    made = adjustment(problem)
    w = np.divide(1.0, made.a, out=np.ones_like(made.a), where=made.a > 0)
    l, u = made.box(np.ones(made.p, dtype=np.int8))
    found = L1(made.M).solve(w, w, l, u) if norm == "L1" else L2(made.M).solve(w**2, l, u)
    assert found.status == OPTIMAL and found.z is not None  # "no infeasibilities appeared in this phase"
    return problem, made.a + found.z


@pytest.mark.parametrize("name", ["targus", "table8", "hier13x7x7d", "hier13"])
def test_l1_is_recomputed_by_whoever_knows_levels_or_bounds(name):
    """Tables 6 and 8: 100.0 in class 0 for all four."""
    problem, v = protected(name, "L1")
    made = assess(problem, v, ("B3", "C"), {"replications": FEW.get(name, 10)}, seed=1)
    for trial in made.trials:
        assert trial.shares[0] == 100
        assert (trial.soft, trial.failed, trial.verdict) == (0, 0, AT_RISK)


@pytest.mark.parametrize("norm", ["L1", "L2"])
@pytest.mark.parametrize("name", ["targus", "table8", "hier13x7x7d"])
def test_nothing_is_recomputed_by_whoever_guesses_the_levels(name, norm):
    """Tables 2 to 5: 0.0 in class 0 for every instance, and most guesses are more than 5 % off."""
    problem, v = protected(name, norm)
    made = assess(problem, v, ("B1", "B2"), {"norm": norm, "replications": 4}, seed=1)
    for trial in made.trials:
        assert trial.counts[0] == 0 and trial.failed == 0
        assert trial.shares[1] < 50
    assert made.trials[0].soft or name == "table8"  # random senses fit no table with sums of sensitive cells


@pytest.mark.parametrize("name", ["table8", "hier13x7x7d"])
def test_l2_is_recomputed_too(name):
    """Tables 7 and 9 report 84.6 and 81.2 for hier13x7x7d, with the accuracy of an interior point."""
    problem, v = protected(name, "L2")
    for trial in assess(problem, v, ("B3", "C"), {"norm": "L2", "replications": 4}, seed=1).trials:
        assert trial.shares[0] > 80
        assert trial.shares[:2].sum() == 100


def test_the_distribution_of_b2_is_that_of_a_larger_delta():
    """Table 4, hier13x7x7d. With Δ = 0.2, as the paper says, no guess is more than 30 % off, where it has 10.6 % of
    them; 0.3 comes much nearer (8.0 points apart; 3.6 with seed 2)."""
    printed = np.array([0.0, 8.6, 6.8, 27.2, 46.8, 10.6, 0.0, 0.0])
    problem, v = protected("hier13x7x7d", "L1")
    apart = {}
    for delta in (0.2, 0.3):
        (trial,) = assess(problem, v, ("B2",), {"delta": delta}, seed=1).trials
        apart[delta] = float(np.abs(trial.shares - printed).sum() / 2)
    assert apart[0.3] < 12
    assert apart[0.2] > 35
