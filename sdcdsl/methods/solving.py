"""From the name of a method to a result: by its model, or by what accelerates it.

The method's record in the registry says what does the work; a method without a model has a function
`solve(problem, context) -> Result`. Each is imported when it is asked for: solvers take their time to load.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from sdcdsl.bind.problem import TableProblem
from sdcdsl.methods.definition import Definition
from sdcdsl.methods.modelling import RESULTS, limits
from sdcdsl.methods.result import Result, SolveContext
from sdcdsl.registry import Unusable, load
from sdcdsl.solve import solve
from sdcdsl.solve.modelling import by_variable
from sdcdsl.status import FAILED
from sdcdsl.vocabulary.methods import METHODS

Solve = Callable[[TableProblem, SolveContext], Result]


def _module(path: str) -> Callable[[], Any]:
    return lambda: import_module(path)


def _of_forms(path: str) -> Callable[[], Any]:
    def load() -> Any:
        from sdcdsl.methods.forms.model import FormsModel  # noqa: PLC0415

        return FormsModel(import_module(path).shape)

    return load


DEFINITIONS: dict[str, Callable[[], Definition]] = {
    "csp": _module("sdcdsl.methods.csp.model"),
    "ip": _module("sdcdsl.methods.ip.model"),
    "cta": _module("sdcdsl.methods.cta.model"),
    "rounding": _of_forms("sdcdsl.methods.rounding.model"),
    "perturb": _of_forms("sdcdsl.methods.perturb.model"),
    "combined": _of_forms("sdcdsl.methods.combined.model"),
}


def available(name: str) -> bool:
    return unavailable(name) is None


def unavailable(name: str) -> str | None:
    """Why a method cannot run, in a sentence."""
    try:
        _solve(name)
    except Unusable as error:
        return str(error)
    return None


def run(problem: TableProblem, name: str, context: SolveContext) -> Result:
    """What a method makes of a table problem. A name without a method fails, it does not raise."""
    if (why := unavailable(name)) is not None:
        return Result(FAILED, notes=(why,))
    return _solve(name)(problem, context)


def by_model(problem: TableProblem, definition: Definition, context: SolveContext) -> Result:
    """The best release by the method's model and the backend that the context names."""
    model = definition.model(problem, context)
    solution = solve(model, limits(context), context.options.get("backend") or "highs")
    status, seconds = RESULTS.get(solution.status, FAILED), {"model": solution.seconds}
    if solution.values is None:
        notes = (solution.message,) if status == FAILED else ()
        return Result(status, bound=solution.bound, seconds=seconds, notes=notes)
    released = definition.pattern(problem, by_variable(model, solution.values), context)
    exact = definition.objective(problem, released, context)  # the solver's own is a sum of scaled numbers
    bound = None if solution.bound is None else min(solution.bound, exact)
    return definition.completed(problem, Result(status, released, exact, bound, seconds), context)


def _solve(name: str) -> Solve:
    method = METHODS.get(name)
    if method is None:
        raise Unusable(f"there is no method `{name}` in this version")
    return load(method.solve or method.accelerator or f"{method.model}:solve")
