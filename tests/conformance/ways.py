"""All ways the program has to solve a case, each with what it says of itself and what it publishes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from sdcdsl.bind.problem import TableProblem
from sdcdsl.deadline import Deadline
from sdcdsl.methods.by_model import by_model
from sdcdsl.methods.result import SolveContext
from sdcdsl.methods.solving import definition, run
from sdcdsl.pattern import Pattern
from sdcdsl.solve import missing
from tests.conformance.cases import Case

SECONDS = 20.0  # nothing here takes a tenth of it; what does says `limit` and is held to nothing
GAP = 1e-5  # of what is called optimal


@dataclass(frozen=True, eq=False)
class Said:
    """`objective`, `bound`: as the way states them."""

    way: str
    status: str
    objective: float | None
    bound: float | None
    pattern: Pattern | None
    options: dict[str, Any]  # with which the release is one of the case's method


def ways(case: Case, models: bool = True) -> Iterator[Said]:
    """`models`: the first models as well, which take most of the time."""
    own = _by_search(case.problem, "search", case.method, case.options)
    yield own
    options = own.options
    if "steps" not in options or case.method != "rounding" or options["steps"] == case.options.get("steps", 0):
        yield from _as_combined(case)
    if case.method in ("csp", "cta") and missing("scip") is None:
        yield _by_search(case.problem, "search with scip", case.method, case.options | {"backend": "scip"})
    if models:
        for backend in ("highs", "scip"):
            if missing(backend) is None:
                yield _by_first_model(case, options, backend)


def _by_search(problem: TableProblem, way: str, method: str, options: dict[str, Any]) -> Said:
    made = run(problem, method, SolveContext(options, Deadline(SECONDS), seed=1))
    if "steps" in made.facts and method == "rounding":  # further away than was asked for, since nothing is nearer
        options = options | {"steps": made.facts["steps"]}
    return Said(way, made.status, made.objective, made.bound, made.pattern, options)


def _as_combined(case: Case) -> Iterator[Said]:
    """The same with one part, where that is the method."""
    every = np.ones(case.problem.n, dtype=bool)
    options = dict(case.options)
    if case.method == "csp" and "cap_hidden" not in options:  # there, cells that are hidden already do not count
        part = {"suppress": every}
    elif case.method == "ip":
        part = {"interval": every}
    elif case.method == "rounding" and not options.get("steps"):
        part = {"round": np.broadcast_to(np.asarray(options.pop("base"), dtype=float), every.shape)}
    elif case.method == "perturb" and "end" not in options:
        low, high = options.pop("range")
        if (-low != high).any():
            return
        part = {"perturb": high}
    else:
        return
    made = _by_search(case.problem, "combined", "combined", options | part)
    yield Said("combined", made.status, made.objective, made.bound, made.pattern, case.options)


def _by_first_model(case: Case, options: dict[str, Any], backend: str) -> Said:
    """The model alone, as with `SDCDSL_ACCELERATE=0`."""
    context = SolveContext(options | {"backend": backend}, Deadline(SECONDS), seed=1)
    defined: Any = definition(case.method)
    own = hasattr(defined, "solve")  # more than one model
    made = defined.solve(case.problem, context) if own else by_model(case.problem, defined, context)
    return Said(f"model by {backend}", made.status, made.objective, made.bound, made.pattern, options)
