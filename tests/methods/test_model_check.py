"""What accelerators find is put into the model before anybody sees it: one that lies is found out."""

from dataclasses import replace

import numpy as np
import pytest

from sdcdsl.deadline import Deadline
from sdcdsl.methods import solving
from sdcdsl.methods.model_check import CHECK
from sdcdsl.methods.result import SolveContext
from sdcdsl.pattern.pattern import CHANGED, EXACT, HIDDEN, INTERVAL
from sdcdsl.registry import load
from sdcdsl.status import FAILED, FEASIBLE, OPTIMAL
from sdcdsl.vocabulary.methods import METHODS
from tests.conformance.cases import case

ACCELERATED = [name for name, method in METHODS.built_in.items() if method.accelerator is not None]
SEEDS = {"csp": 1, "ip": 0, "cta": 0, "ecta": 3, "rounding": 0, "perturb": 0, "combined": 1}  # cases that can be met


def result_of(method, lie=None, options=None, monkeypatch=None):
    """What `run` makes of an accelerator whose honest result `lie` changes."""
    made = case(method, SEEDS[method])
    if lie is not None:
        honest = load(METHODS[method].accelerator)
        as_told = replace(
            METHODS[method], model_up_to=0, accelerator=lambda problem, context: lie(problem, honest(problem, context))
        )
        monkeypatch.setattr(solving, "METHODS", {method: as_told})
    given = made.options | (options or {})
    return solving.run(made.problem, method, SolveContext(given, Deadline(60.0), seed=1))


def rewritten(result, cell, **parts):
    """The release with another figure, ends or status in one cell."""
    pattern = result.pattern
    arrays = {name: getattr(pattern, name).copy() for name in ("low", "high", "value", "status")}
    for name, value in parts.items():
        arrays[name][cell] = value
    return replace(result, pattern=replace(pattern, **arrays))


def first(mask):
    assert mask.any()
    return int(np.flatnonzero(mask)[0])


def published(problem, result, cell):
    a = problem.dataset["a"].values[cell]
    return rewritten(result, cell, low=a, high=a, value=a, status=EXACT)


def sensitive_cell(problem):
    d = problem.dataset
    return first((d["status"].values == "u") & d["published"].values)


@pytest.mark.parametrize("method", ACCELERATED)
def test_honest_accelerators_agree_with_their_models(method, monkeypatch):
    result = result_of(method, lambda problem, r: r, None, monkeypatch)
    assert result.status in (OPTIMAL, FEASIBLE) and CHECK in result.seconds


@pytest.mark.parametrize("method", ACCELERATED)
def test_a_cost_that_is_stated_too_low_is_found_out(method, monkeypatch):
    result = result_of(
        method, lambda problem, r: replace(r, objective=0.9 * r.objective, bound=None), None, monkeypatch
    )
    assert result.status == FAILED and result.pattern is None and "is stated" in result.notes[-1]


@pytest.mark.parametrize("method", [m for m in ACCELERATED if m != "ecta"])  # which states no bound
def test_a_bound_above_the_cost_is_found_out(method, monkeypatch):
    result = result_of(method, lambda problem, r: replace(r, bound=1.1 * r.objective + 1.0), None, monkeypatch)
    assert result.status == FAILED and "a bound of" in result.notes[-1]


def test_what_a_search_that_is_given_up_has_in_hand_is_checked_as_well(monkeypatch):
    made = case("csp", SEEDS["csp"])
    honest = load(METHODS["csp"].accelerator)

    def offering(problem, context):
        result = honest(problem, SolveContext(context.options, seed=1))
        context.incumbents.offer(result.objective, lambda: result)
        context.incumbents.offer(0.5 * result.objective, lambda: published(problem, result, sensitive_cell(problem)))
        raise RuntimeError("it broke down")

    lying = replace(METHODS["csp"], model_up_to=0, accelerator=offering)
    monkeypatch.setattr(solving, "METHODS", {"csp": lying})
    context = SolveContext(made.options, seed=1)
    with pytest.raises(RuntimeError):
        solving.run(made.problem, "csp", context)
    (kept,) = context.incumbents.best_first()
    assert (kept.pattern.status == HIDDEN)[sensitive_cell(made.problem)]


def test_a_sensitive_cell_that_is_published_is_found_out(monkeypatch):
    result = result_of("csp", lambda p, r: published(p, r, sensitive_cell(p)), None, monkeypatch)
    assert result.status == FAILED and "x(" in result.notes[-1] and "bounds" in result.notes[-1]


def test_a_suppression_with_an_interval_is_found_out(monkeypatch):
    def lie(problem, result):
        a = problem.dataset["a"].values[sensitive_cell(problem)]
        return rewritten(result, sensitive_cell(problem), low=a - 1, high=a + 1, status=INTERVAL)

    result = result_of("csp", lie, None, monkeypatch)
    assert result.status == FAILED and "neither hidden nor published" in result.notes[-1]


def test_more_cells_than_the_cap_allows_are_found_out(monkeypatch):
    honest = result_of("csp")
    few = {"cap_hidden": int((honest.pattern.status == HIDDEN).sum()) - 1}
    result = result_of("csp", lambda problem, r: honest, few, monkeypatch)
    assert result.status == FAILED and "`few enough hidden`" in result.notes[-1]


def test_an_interval_that_does_not_hold_the_truth_is_found_out(monkeypatch):
    def lie(problem, result):
        cell = first((result.pattern.status == INTERVAL) & problem.dataset["published"].values)
        a = problem.dataset["a"].values[cell]
        return rewritten(result, cell, low=a + 1, high=a + 2)

    result = result_of("ip", lie, None, monkeypatch)
    assert result.status == FAILED and "bounds" in result.notes[-1]


@pytest.mark.parametrize("method", ["cta", "ecta", "rounding", "perturb"])
def test_a_table_that_does_not_add_up_is_found_out(method, monkeypatch):
    def lie(problem, result):
        d = problem.dataset
        cell = first(
            (result.pattern.status == CHANGED) & d["published"].values & np.isin(np.arange(problem.n), d["cell_of"])
        )
        further = result.pattern.value[cell] + 0.2 * abs(d["a"].values[cell]) + 0.5
        return rewritten(result, cell, value=further, low=further - 1, high=further + 1)

    result = result_of(method, lie, None, monkeypatch)
    assert result.status == FAILED and result.pattern is None


def test_an_adjusted_cell_short_of_its_level_is_found_out(monkeypatch):
    result = result_of("cta", lambda p, r: published(p, r, sensitive_cell(p)), None, monkeypatch)
    assert result.status == FAILED and result.pattern is None


def test_a_form_that_no_part_allows_is_found_out(monkeypatch):
    def lie(problem, result):
        cell = first((result.pattern.status == CHANGED) & problem.dataset["published"].values)
        return rewritten(result, cell, low=-np.inf, high=np.inf, value=np.nan, status=HIDDEN)

    result = result_of("rounding", lie, None, monkeypatch)
    assert result.status == FAILED and "form" in result.notes[-1]


def test_figures_that_are_no_multiples_are_found_out(monkeypatch):
    def lie(problem, result):
        cell = first((result.pattern.status == CHANGED) & problem.dataset["published"].values)
        base = float(np.max(case("rounding", SEEDS["rounding"]).options["base"]))
        return rewritten(result, cell, value=result.pattern.value[cell] + 0.3 * base)

    result = result_of("rounding", lie, None, monkeypatch)
    assert result.status == FAILED and "whole number" in result.notes[-1]
