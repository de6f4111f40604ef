"""From the name of a method to the method: ours, or one of a third party (entry point group `sdcdsl.engines`).

An entry point loads a function `solve(problem: TableProblem, order: Order) -> Result`, under the name that its `Method`
has in the group `sdcdsl.methods`. Each method is imported when it is asked for: solvers take their time to load.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.metadata import entry_points

from sdcdsl.bind.problem import TableProblem
from sdcdsl.methods.result import Order, Result
from sdcdsl.status import FAILED

Solve = Callable[[TableProblem, Order], Result]

_NAMES = ("csp", "ip", "cta", "ecta", "rounding", "perturb", "combined")
OURS = {name: f"sdcdsl.accelerate.{name}.driver" for name in _NAMES}


def available(name: str) -> bool:
    return name in OURS or name in _others()


def run(problem: TableProblem, name: str, order: Order) -> Result:
    """What a method makes of a table problem. A name without a method fails, it does not raise."""
    if not available(name):
        return Result(FAILED, notes=(f"there is no method `{name}` in this version",))
    return _solve(name)(problem, order)


def _solve(name: str) -> Solve:
    return import_module(OURS[name]).solve if name in OURS else _others()[name].load()


def _others() -> dict:
    return {point.name: point for point in entry_points(group="sdcdsl.engines")}
