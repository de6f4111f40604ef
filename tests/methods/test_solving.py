"""Who solves a method: its accelerator, or its model by a backend. The models alone are complete on small tables."""

import pytest

from sdcdsl.deadline import Deadline
from sdcdsl.methods.result import SolveContext
from sdcdsl.methods.solving import SWITCH, definition, modelled, run
from sdcdsl.registry import Unusable
from sdcdsl.status import FAILED, OPTIMAL
from sdcdsl.vocabulary.methods import METHODS
from tests.conformance.cases import case

BY_MODEL = "model"  # the phase whose seconds a solved model is counted in
SEEDS = {"csp": 1, "ip": 0, "cta": 0, "ecta": 3, "rounding": 0, "perturb": 0, "combined": 1}  # cases that can be met


def result_of(method, **options):
    made = case(method, SEEDS[method])
    return run(made.problem, method, SolveContext({**made.options, **options}, Deadline(60.0), seed=1))


@pytest.mark.parametrize("method", list(SEEDS))
def test_every_method_runs_by_its_model_alone(method, monkeypatch):
    fast = result_of(method)
    assert BY_MODEL not in fast.seconds
    monkeypatch.setenv(SWITCH, "0")
    alone = result_of(method)
    assert alone.status == fast.status and BY_MODEL in alone.seconds
    if alone.status == OPTIMAL:
        assert alone.objective == pytest.approx(fast.objective, rel=1e-5)


@pytest.mark.parametrize("method", [m for m in SEEDS if "scip" not in METHODS[m].accelerator_backends])
def test_a_backend_that_the_accelerator_does_not_use_solves_the_model(method):
    pytest.importorskip("pyscipopt")
    assert BY_MODEL in result_of(method, backend="scip").seconds


def test_a_model_too_large_to_be_written_down_is_refused_and_says_so(monkeypatch):
    monkeypatch.setattr("sdcdsl.methods.witness_tables.MOST_VARIABLES", 1)
    monkeypatch.setenv(SWITCH, "0")
    result = result_of("csp")
    assert result.status == FAILED and "variables" in result.notes[0]


def test_every_method_with_a_model_is_tried():
    assert modelled() == list(SEEDS)
    with pytest.raises(Unusable, match="no method"):
        definition("nothing")
