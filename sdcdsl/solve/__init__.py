"""A solver seen narrowly: what it can, how far it may go, and answers that mean one thing.

`solve(model, limits, backend)` is the only way to a solver for compiled models; loops that live on a solver's own
handle stand in files of their own (`master`, `scip`).
"""

from sdcdsl.solve.backend import BackendRefused, Can, Solver, backend, missing
from sdcdsl.solve.limits import SolveLimits
from sdcdsl.solve.solving import refusal, solve
from sdcdsl.solve.status import Solution, Status

__all__ = [
    "BackendRefused",
    "Can",
    "Solution",
    "SolveLimits",
    "Solver",
    "Status",
    "backend",
    "missing",
    "refusal",
    "solve",
]
