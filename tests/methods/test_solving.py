"""Who solves a method: its accelerator, or its model by a backend. The models alone are complete on small tables."""

import pytest

from sdcdsl.deadline import Deadline
from sdcdsl.methods.result import SolveContext
from sdcdsl.methods.solving import SWITCH, definition, modelled, run
from sdcdsl.registry import Unusable
from sdcdsl.solve import missing
from sdcdsl.status import FAILED, OPTIMAL
from sdcdsl.vocabulary.methods import METHODS
from tests.conformance.cases import case

BY_MODEL = "model"  # the phase whose seconds a solved model is counted in
SEEDS = {"csp": 1, "ip": 0, "cta": 0, "ecta": 3, "rounding": 0, "perturb": 0, "combined": 1}  # cases that can be met


def result_of(method, **options):
    made = case(method, SEEDS[method])
    return run(made.problem, method, SolveContext({**made.options, **options}, Deadline(60.0), seed=1))


@pytest.mark.parametrize("method", list(METHODS.built_in))
def test_every_method_runs_by_its_model_alone(method, monkeypatch):
    fast = result_of(method)
    assert BY_MODEL not in fast.seconds
    monkeypatch.setenv(SWITCH, "0")
    alone = result_of(method)
    assert alone.status == fast.status and BY_MODEL in alone.seconds
    if alone.status == OPTIMAL:
        assert alone.objective == pytest.approx(fast.objective, rel=1e-5)


@pytest.mark.parametrize("method", list(METHODS.built_in))
def test_every_method_is_solved_by_scip(method):
    """By its model, unless its accelerator solves by SCIP itself."""
    pytest.importorskip("pyscipopt")
    result, usual = result_of(method, backend="scip"), result_of(method)
    assert (BY_MODEL in result.seconds) == ("scip" not in METHODS[method].accelerator_backends)
    assert result.status == usual.status and result.pattern is not None
    if usual.status == OPTIMAL:
        assert result.objective == pytest.approx(usual.objective, rel=1e-5)


@pytest.mark.parametrize("backend", ["gurobi", "cplex", "xpress", "mosek"])
@pytest.mark.parametrize("method", list(METHODS.built_in))
def test_a_backend_that_is_not_installed_is_refused_by_every_method(method, backend):
    if missing(backend) is None:
        pytest.skip(f"{backend} is installed here")
    result = result_of(method, backend=backend)
    assert result.status == FAILED and result.pattern is None and backend in " ".join(result.notes)


def test_a_model_too_large_to_be_written_down_is_refused_and_says_so(monkeypatch):
    monkeypatch.setattr("sdcdsl.methods.witness_tables.MOST_VARIABLES", 1)
    monkeypatch.setenv(SWITCH, "0")
    result = result_of("csp")
    assert result.status == FAILED and "variables" in result.notes[0]


def test_every_built_in_method_has_a_model():
    assert modelled() == list(METHODS.built_in)
    with pytest.raises(Unusable, match="no method"):
        definition("nothing")
