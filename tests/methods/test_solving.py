"""Who solves a method: its accelerator, or its model by a backend. The models alone are complete on small tables."""

from dataclasses import replace

import numpy as np
import pytest

from sdcdsl.deadline import Deadline
from sdcdsl.methods import solving
from sdcdsl.methods.result import SolveContext
from sdcdsl.methods.solving import SWITCH, definition, modelled, run
from sdcdsl.methods.witness_tables import entries
from sdcdsl.registry import Unusable
from sdcdsl.solve import missing
from sdcdsl.status import FAILED, INFEASIBLE, OPTIMAL
from sdcdsl.vocabulary.methods import METHODS
from tests.by_search import by_search
from tests.conformance.cases import case
from tests.methods.tiny_tables import changed

BY_MODEL = "model"  # the phase whose seconds a solved model is counted in
SEEDS = {"csp": 1, "ip": 0, "cta": 0, "ecta": 3, "rounding": 0, "perturb": 0, "combined": 1}  # cases that can be met


def result_of(method, **options):
    made = case(method, SEEDS[method])
    return run(made.problem, method, SolveContext({**made.options, **options}, Deadline(60.0), seed=1))


def accelerated(method):
    """The result of the accelerator, at any size."""
    with by_search():
        return result_of(method)


def test_small_suppressions_are_solved_by_the_model_and_others_by_the_accelerator(monkeypatch):
    problem = case("csp", SEEDS["csp"]).problem
    some = changed(problem, w=np.maximum(problem.dataset["w"].values, 1.0))
    none = changed(problem, w=np.where(problem.dataset["status"].values == "s", 0.0, some.dataset["w"].values))
    context = SolveContext({}, seed=1)
    small, free = run(some, "csp", context), run(none, "csp", context)
    assert BY_MODEL in small.seconds and entries(some) <= METHODS["csp"].model_up_to
    assert BY_MODEL not in free.seconds  # to a model it is all the same whether cells that cost nothing are hidden
    monkeypatch.setattr(solving, "METHODS", {"csp": replace(METHODS["csp"], model_up_to=entries(some) - 1)})
    larger = run(some, "csp", context)
    assert BY_MODEL not in larger.seconds
    assert larger.status == small.status == OPTIMAL and larger.objective == pytest.approx(small.objective)


def test_why_there_is_no_release_is_said_at_any_size():
    """The model proves it, the accelerator knows which levels clash."""
    problem = case("csp", SEEDS["csp"]).problem
    pairs = problem.dataset.sizes["pair"]
    low, high = np.zeros_like(problem.dataset["low"].values), 2 * np.abs(problem.dataset["a"].values) + 1
    impossible = changed(
        problem, low=low, high=np.broadcast_to(high, low.shape).copy(), upl=np.full(pairs, 10 * high.max())
    )
    result = run(impossible, "csp", SolveContext({}, Deadline(60.0)))
    assert result.status == INFEASIBLE and result.clashes


@pytest.mark.parametrize("method", list(SEEDS))
def test_every_method_runs_by_its_model_alone(method, monkeypatch):
    fast = accelerated(method)
    assert BY_MODEL not in fast.seconds
    monkeypatch.setenv(SWITCH, "0")
    alone = result_of(method)
    assert alone.status == fast.status and BY_MODEL in alone.seconds
    if alone.status == OPTIMAL:
        assert alone.objective == pytest.approx(fast.objective, rel=1e-5)


@pytest.mark.parametrize("method", list(SEEDS))
def test_every_method_is_solved_by_scip(method):
    """By its model; the accelerator of suppression uses SCIP itself."""
    pytest.importorskip("pyscipopt")
    result, usual = result_of(method, backend="scip"), result_of(method)
    assert (BY_MODEL in result.seconds) == (method != "csp")
    assert result.status == usual.status and result.pattern is not None
    if usual.status == OPTIMAL:
        assert result.objective == pytest.approx(usual.objective, rel=1e-5)


@pytest.mark.parametrize("backend", ["gurobi", "cplex", "xpress", "mosek"])
@pytest.mark.parametrize("method", list(SEEDS))
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


def test_every_method_with_a_model_is_tried():
    assert modelled() == list(SEEDS)
    with pytest.raises(Unusable, match="no method"):
        definition("nothing")
