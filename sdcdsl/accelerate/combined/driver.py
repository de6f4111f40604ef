"""Combined methods by cutting planes over their forms."""

from __future__ import annotations

from sdcdsl.accelerate.forms.solving import solve_shape
from sdcdsl.bind.problem import TableProblem
from sdcdsl.methods.combined.model import shape
from sdcdsl.methods.result import Order, Result


def solve(problem: TableProblem, order: Order) -> Result:
    return solve_shape(shape(problem, order.options), order)
