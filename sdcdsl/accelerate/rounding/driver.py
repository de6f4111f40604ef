"""Controlled rounding by cutting planes over its forms."""

from __future__ import annotations

from sdcdsl.accelerate.forms.solving import solve_shape
from sdcdsl.accelerate.rounding.heuristics import RoundingHeuristic
from sdcdsl.bind.problem import TableProblem
from sdcdsl.methods.result import Result, SolveContext
from sdcdsl.methods.rounding.definition import nearest_first, patience
from sdcdsl.methods.rounding.model import shape


def solve(problem: TableProblem, context: SolveContext) -> Result:
    def at(context: SolveContext, last: bool) -> Result:
        made = shape(problem, context.options)
        return solve_shape(
            made, context, RoundingHeuristic(made.forms, context.seed), None if last else patience(context)
        )

    return nearest_first(context, at)
