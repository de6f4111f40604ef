"""round_down: every value down to a multiple of a base. The audit of sdcdsl says whether that protects anybody."""

from __future__ import annotations

from sdcdsl.record import record
from sdcdsl.vocabulary.methods import Limits, Method
from sdcdsl.vocabulary.option import Kind, option


@record
class RoundDownOptions(Limits):
    base: float = option(Kind.NUMBER, "round down to multiples of this", least=1)


def solve(problem, context):
    import numpy as np

    from sdcdsl.methods.result import Result
    from sdcdsl.pattern import rounded
    from sdcdsl.status import FEASIBLE

    a, status = problem.dataset["a"].values, problem.dataset["status"].values
    base = np.where(status == "z", 0.0, context.options["base"])  # z: must be published as it is
    value = np.where(base > 0, np.floor(a / np.maximum(base, 1.0)) * base, a)
    return Result(FEASIBLE, rounded(value, base), objective=float(np.abs(a - value).sum()))


METHOD = Method(
    "round_down",
    "rounding down",
    "the table in multiples of a base, none of them above the value",
    "none",
    RoundDownOptions,
    adjusts=True,
    lacks=("gap", "threads", "backend"),
    solve=solve,
)
