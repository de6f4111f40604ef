"""Combined methods by cutting planes over their forms."""

from __future__ import annotations

from sdcdsl.accelerate.forms.solving import solve_shape
from sdcdsl.bind.problem import TableProblem
from sdcdsl.methods.combined.model import shape
from sdcdsl.methods.result import Result, SolveContext


def solve(problem: TableProblem, context: SolveContext) -> Result:
    return solve_shape(shape(problem, context.options), context)
