"""How large the model of a method would be: the paper's model in full, and what the solvers really hold."""

from __future__ import annotations

from typing import Any

from sdcdsl.bind.problem import TableProblem
from sdcdsl.vocabulary.methods import METHODS, ProblemCounts


def model_sizes(method: str, problem: TableProblem) -> dict[str, Any]:
    described = METHODS.get(method)
    if described is None or described.sizes is None:
        return {"about": "its size is not known before it runs", "full": None}
    counts = problem.summary()
    free = problem.n - counts["fixed"]
    size = described.sizes(ProblemCounts(problem.n, free, counts["relations"], counts["pairs"], counts["sensitive"]))
    about = f"{size.kept}; in full {size.variables:_} variables and {size.constraints:_} constraints".replace("_", " ")
    return {"about": about, "full": {"variables": size.variables, "constraints": size.constraints}}
