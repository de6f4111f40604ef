"""Enhanced controlled tabular adjustment (paper 001): another table, and how far it may be from the truth."""

from __future__ import annotations

from sdcdsl.record import record
from sdcdsl.vocabulary.methods import Limits, Method, ModelSize, ProblemCounts
from sdcdsl.vocabulary.option import Kind, option


@record
class EctaOptions(Limits):
    alpha: float = option(
        Kind.SHARE, "how far a sensitive value may be from the true one, as a share of it", "30%", least=0, most=100
    )
    beta: float | None = option(Kind.SHARE, "the largest relative deviation of the other cells", None, least=0)
    tries: int = option(Kind.WHOLE, "how many random tables to try", 50, least=1)
    fix_at_a_time: int = option(Kind.WHOLE, "how many cells to fix after a failed audit", 1, least=1)
    sensitive_free: bool = option(Kind.FLAG, "leave sensitive cells free inside their interval", False)
    norm: str = option(Kind.CHOICE, "how deviations are added up", "Linf", choices=("L1", "L2", "Linf"))


def sizes(of: ProblemCounts) -> ModelSize:
    variables = 2 * of.free + 1
    kept = f"{variables - 1:_} variables a try, {2 * of.pairs:_} attacker problems an audit"
    return ModelSize(variables, of.relations + 2 * of.free, kept)


METHOD = Method(
    "ecta",
    "enhanced controlled tabular adjustment",
    "an adjusted table with the widths α and β",
    "001 §III",
    EctaOptions,
    aliases=("enhanced_adjustment",),
    adjusts=True,
    stochastic=True,
    lacks=("gap", "threads"),
    model="sdcdsl.methods.ecta.model",
    accelerator="sdcdsl.accelerate.ecta.driver:solve",
    sizes=sizes,
)
