"""From the name of a method to a result: by its model and a backend, or by what accelerates it.

The method's record in the registry names both; a method without a model has a function `solve(problem, context) ->
Result`. Each is imported when it is asked for: solvers take their time to load.

The model is solved where the accelerator does not solve by the backend that is asked for, and everywhere with
SDCDSL_ACCELERATE=0 in the environment: the readable core is complete, and what is faster is held against it.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from sdcdsl.bind.problem import TableProblem
from sdcdsl.methods.by_model import by_model
from sdcdsl.methods.definition import Definition
from sdcdsl.methods.model_check import checked
from sdcdsl.methods.result import Result, SolveContext
from sdcdsl.registry import Unusable, load
from sdcdsl.status import FAILED
from sdcdsl.vocabulary.methods import METHODS, Method

Solve = Callable[[TableProblem, SolveContext], Result]
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
        solve = _solve(_record(name), context.options.get("backend") or "highs")
    except Unusable as error:
        return Result(FAILED, notes=(str(error),))
    result = solve(problem, context)
    if not isinstance(result, Result):
        return Result(FAILED, notes=(f"the method `{name}` returns a {type(result).__name__}, and not a Result",))
    return result


def definition(name: str) -> Definition:
    """The model of a method and the way between its values and releases."""
    model = _record(name).model
    if model is None:
        raise Unusable(f"the method `{name}` has no model")
    return load(model)


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
        return _held_against_model(load(method.accelerator), method.model)
    made: Definition = load(method.model)
    # A method that solves more than one model says how.
    return getattr(made, "solve", None) or (lambda problem, context: by_model(problem, made, context))


def _held_against_model(solve: Solve, model: str) -> Solve:
    """What an accelerator finds is put into the model before anybody sees it."""
    return lambda problem, context: checked(problem, load(model), solve(problem, context), context)
