"""The best release by a method's model and the backend that the context names."""

from __future__ import annotations

from sdcdsl.bind.problem import TableProblem
from sdcdsl.methods.definition import Definition
from sdcdsl.methods.modelling import RESULTS, limits
from sdcdsl.methods.result import Progress, Result, SolveContext
from sdcdsl.methods.witness_tables import too_many_variables
from sdcdsl.solve import solve
from sdcdsl.solve.modelling import by_variable
from sdcdsl.status import FAILED


def by_model(problem: TableProblem, definition: Definition, context: SolveContext) -> Result:
    if (refused := too_many_variables(problem)) is not None:
        return Result(FAILED, notes=(refused,))
    context.report(Progress("model"))
    model = definition.model(problem, context)
    solution = solve(model, limits(context), context.options.get("backend") or "highs")
    status, seconds = RESULTS.get(solution.status, FAILED), {"model": solution.seconds}
    if solution.values is None:
        notes = (solution.message,) if status == FAILED else ()
        return Result(status, bound=solution.bound, seconds=seconds, notes=notes)
    released = definition.pattern(problem, by_variable(model, solution.values), context)
    exact = definition.objective(problem, released, context)  # the solver's own is a sum of scaled numbers
    bound = None if solution.bound is None else min(solution.bound, exact)
    context.report(Progress("model", exact, bound))
    return definition.completed(problem, Result(status, released, exact, bound, seconds), context)
