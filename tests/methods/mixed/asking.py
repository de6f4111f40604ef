"""A method of the family on a problem, audited; and its first model, solved by linopy."""

from __future__ import annotations

from typing import Any

import numpy as np

from sdcdsl.audit import audit
from sdcdsl.bind.problem import TableProblem
from sdcdsl.deadline import Deadline
from sdcdsl.methods.result import Result, SolveContext
from sdcdsl.methods.solving import definition, run
from sdcdsl.solve.modelling import by_variable
from sdcdsl.solve.solving import solve

SAFE = ("protected", "nothing to check")


def asked(problem: TableProblem, method: str, seconds: float = 30.0, **options: Any) -> Result:
    """What a method gives back: protected, additive, and at the cost it states."""
    result = run(problem, method, SolveContext(options, Deadline(seconds)))
    if result.pattern is not None:
        assert audit(problem, result.pattern).verdict in SAFE
        if method in ("rounding", "perturb", "combined"):
            context = SolveContext(stepped(options, result))
            assert close(definition(method).objective(problem, result.pattern, context), result.objective)
    return result


def stepped(options: dict[str, Any], result: Result) -> dict[str, Any]:
    return options | {"steps": result.facts["steps"]} if "steps" in result.facts else options


def first_model(problem: TableProblem, method: str, **options: Any) -> float | None:
    """The least cost by the first model; its release must be as safe as any."""
    defined, context = definition(method), SolveContext(options)
    model = defined.model(problem, context)
    solution = solve(model)
    if solution.values is None:
        return None
    released = defined.pattern(problem, by_variable(model, solution.values), context)
    assert audit(problem, released).verdict in SAFE
    return defined.objective(problem, released, context)


def close(one: float | None, other: float | None) -> bool:
    if one is None or other is None:
        return one is other
    return abs(one - other) <= 1e-5 * max(1.0, abs(other))


def residual(problem: TableProblem, v: np.ndarray) -> float:
    d = problem.dataset
    sums = d["coefficient"].values * v[d["cell_of"].values]
    return float(np.abs(np.bincount(d["equation_of"].values, weights=sums) - d["b"].values).max())
