"""From the name of a method to a result: by its model and a backend, or by what accelerates it.

The method's record in the registry names both; a method without a model has a function `solve(problem, context) ->
Result`. Each is imported when it is required: solvers take their time to load.

The model is solved where it is at least as fast (`Method.model_up_to`), where the accelerator does not solve by the
backend that is required, and everywhere with SDCDSL_ACCELERATE=0 in the environment: the readable core is complete,
and what is faster is held against it.
"""

from __future__ import annotations

import os
from dataclasses import replace
from math import isfinite
from typing import TYPE_CHECKING

from sdcdsl.bind.cell_labels import CELL, labels_of
from sdcdsl.bind.problem import TableProblem
from sdcdsl.methods.by_model import by_model
from sdcdsl.methods.definition import Definition
from sdcdsl.methods.model_check import Solve, held_against
from sdcdsl.methods.result import Result, SolveContext
from sdcdsl.methods.tuning import TUNING
from sdcdsl.methods.whole_ends import with_whole_ends
from sdcdsl.methods.witness_tables import entries
from sdcdsl.registry import Unusable, load
from sdcdsl.solve import BackendRefused
from sdcdsl.status import FAILED, OPTIMAL
from sdcdsl.vocabulary.methods import METHODS, Method

if TYPE_CHECKING:
    import linopy

SWITCH = "SDCDSL_ACCELERATE"


def unavailable(name: str) -> str | None:
    """Why a method cannot run, in a sentence."""
    try:
        _solve(_record(name), "highs")
    except Unusable as error:
        return str(error)
    return None


def run(problem: TableProblem, name: str, context: SolveContext) -> Result:
    """What a method makes of a table problem. A name without a method fails, it does not raise."""
    try:
        method = _record(name)
        solve = _solve(method, context.options.get("backend") or "highs")
        for option, reference in method.solve_with:
            solve = load(reference) if context.options.get(option) is not None else solve
    except Unusable as error:
        return Result(FAILED, notes=(str(error),))
    try:
        result = solve(problem, context)
    except BackendRefused as error:  # the backend is not there, or cannot do what the model needs
        return Result(FAILED, notes=(str(error),))
    if not isinstance(result, Result):
        return Result(FAILED, notes=(f"the method `{name}` returns a {type(result).__name__}, and not a Result",))
    if method.intervals and method.model is not None:
        return with_whole_ends(problem, load(method.model), result, context)
    return result


def definition(name: str) -> Definition:
    """The model of a method and the way between its values and releases."""
    model = _record(name).model
    if model is None:
        raise Unusable(f"the method `{name}` has no model")
    return load(model)


def labelled_model(problem: TableProblem, name: str, context: SolveContext, witnesses: bool = True) -> linopy.Model:
    """The model of a method, its variables with the codes of their cells: `model.variables["x"].sel(region="North")`.
    Solvers get it without: labels are for people."""
    from linopy import Variable  # noqa: PLC0415  takes its time to load

    model = definition(name).model(problem, context, witnesses)
    labels = labels_of(problem)
    for variable, over_cells in list(model.variables.items()):
        if CELL in over_cells.dims:
            mine = labels.isel({CELL: over_cells.indexes[CELL].to_numpy()})
            assert mine is not None
            named = over_cells.data.assign_coords(mine.coordinates)
            # linopy broadcasts what it wraps, which leaves nothing of an index but its coordinates.
            model.variables.data[variable] = Variable(named, model, variable, skip_broadcast=True)
    return model


def modelled() -> list[str]:
    """Methods that have a model."""
    return [name for name, method in METHODS.items() if method.model is not None]


def _record(name: str) -> Method:
    method = METHODS.get(name)
    if method is None:
        raise Unusable(f"there is no method `{name}` in this version")
    return method


def _solve(method: Method, backend: str) -> Solve:
    accelerated = os.environ.get(SWITCH, "1") != "0" and backend in method.accelerator_backends
    if method.model is None:
        return load(method.accelerator or method.solve)
    if method.accelerator is not None and accelerated:
        solve = held_against(load(method.model), load(method.accelerator))
        return _model_first(method, solve) if method.model_up_to and backend == "highs" else solve
    made: Definition = load(method.model)
    # A method that solves more than one model says how.
    return getattr(made, "solve", None) or (lambda problem, context: by_model(problem, made, context))


def _model_first(method: Method, otherwise: Solve) -> Solve:
    """Small tables by the model. Where it proves no release to be the best, the accelerator goes on: it knows why there
    is none, and makes the most of a limit."""

    def solve(problem: TableProblem, context: SolveContext) -> Result:
        if entries(problem) > method.model_up_to or _some_cost_nothing(problem):
            return otherwise(problem, context)
        left = context.deadline.remaining
        part = (
            replace(context, deadline=context.deadline.within(TUNING.first_model * left)) if isfinite(left) else context
        )
        result = by_model(problem, load(method.model or ""), part)
        return result if result.status == OPTIMAL else otherwise(problem, context)

    return solve


def _some_cost_nothing(problem: TableProblem) -> bool:
    """To a model it is all the same whether such cells are touched; accelerators leave them as they are."""
    d = problem.dataset
    return bool((d["w"].values[d["published"].values & (d["status"].values == "s")] <= 0).any())
