"""Cell perturbation by cutting planes over its forms."""

from __future__ import annotations

from dataclasses import replace

from sdcdsl.accelerate.forms.solving import solve_shape
from sdcdsl.accelerate.perturb.heuristics import PerturbationHeuristic
from sdcdsl.accelerate.perturb.tuning import TUNING
from sdcdsl.bind.problem import TableProblem
from sdcdsl.methods.incumbents import Incumbents
from sdcdsl.methods.perturb.model import ends, shape
from sdcdsl.methods.result import Result, SolveContext
from sdcdsl.status import INFEASIBLE


def solve(problem: TableProblem, context: SolveContext) -> Result:
    made = shape(problem, context.options)
    result = solve_shape(made, context, PerturbationHeuristic(made.forms, ends(problem.n, context.options.get("end"))))
    if result.status != INFEASIBLE or not ends(problem.n, context.options.get("end")).any():
        return result
    part = context.deadline.within(TUNING.patience)
    brief = replace(context, deadline=part, incumbents=Incumbents())  # of another problem
    free = solve_shape(shape(problem, {**context.options, "end": "free"}), brief)
    if free.pattern is None:
        return result
    said = "sensitive cells cannot all stand at the ends they are given: with `end free` there is a release"
    return replace(result, clashes=(), notes=(*result.notes, said))
