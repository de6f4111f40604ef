"""Tables of counts in three dimensions as large ones are rounded: a gradient method, then trials from its point."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.generators import frequency
from sdcdsl.accelerate.forms import search
from sdcdsl.accelerate.rounding import heuristics
from sdcdsl.accelerate.rounding.annealing import annealed
from sdcdsl.accelerate.rounding.losses import losses_of
from sdcdsl.audit import audit_release
from sdcdsl.audit.hints import take_hints
from sdcdsl.audit.problem import stated
from sdcdsl.audit.proving import Proofs
from sdcdsl.methods.result import SolveContext
from sdcdsl.methods.solving import run
from sdcdsl.status import FEASIBLE, OPTIMAL
from tests.methods.rounding.test_elastic import allowed, loss, started
from tests.waiting import Looks


def counts(seed: int):
    made = frequency(((6,),) * 3, seed=seed)
    return replace(made, dataset=made.dataset.assign(w=("cell", np.ones(made.n))))


@pytest.mark.parametrize("seed", [1, 2])
def test_a_table_from_the_relaxation_is_valid_and_near_the_bound(monkeypatch, seed: int) -> None:
    small = replace(heuristics.TUNING, few=100, large=100)
    monkeypatch.setattr(heuristics, "TUNING", small)
    problem = counts(seed)
    result = run(problem, "rounding", SolveContext({"base": 3.0, "gap": 0.05, "threads": 1}, Looks(1.0)))
    assert result.status in (FEASIBLE, OPTIMAL) and result.pattern is not None
    assert result.bound is not None and result.objective is not None
    assert result.bound <= result.objective <= 1.1 * result.bound
    assert audit_release(problem, result.pattern, exact=False).verdict == "protected"


def test_boxes_of_the_search_prove_its_release(monkeypatch) -> None:
    """Tables that move as far as their box lets them, and no further: the audit has to ask nobody."""
    monkeypatch.setattr(search, "TUNING", replace(search.TUNING, boxed_from=0))
    problem = counts(3)
    result = run(problem, "rounding", SolveContext({"base": 3.0, "gap": 0.2, "threads": 1}, Looks(1.0)))
    assert result.pattern is not None and result.moves is not None
    proofs = Proofs.none(stated(problem, result.pattern, False))
    moved = take_hints(proofs, result.moves)
    assert (proofs.verdicts == "p").all() and len(proofs.verdicts)
    assert moved.mean() > 0.9


@pytest.mark.parametrize("steps", [1, 2])
def test_losses_are_charged_to_the_parts(steps: int) -> None:
    of, _, _ = started(3, steps)
    made = losses_of(of)
    for seed in range(3):
        k = annealed(of, of.k_least, 20_000, seed, lambda: False).k
        y = of.A @ k
        assert allowed(of, k)  # being outside costs something else
        beyond = made.over @ np.maximum(y - made.high, 0.0) + made.under @ np.maximum(made.low - y, 0.0)
        assert made.cost @ k + beyond + made.constant == pytest.approx(loss(of, k))


def test_trials_mend_sums_that_are_outside() -> None:
    of, _, _ = started(5, 1, (4, 4, 4))
    found = annealed(of, of.k_most, 20_000, 0, lambda: False, hot=0.05)
    assert found.outside == 0 and allowed(of, found.k)
    assert found.loss == pytest.approx(loss(of, found.k))
