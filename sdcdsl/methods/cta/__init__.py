"""Controlled tabular adjustment: another table, as close as possible, with every sensitive cell far enough away."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdcdsl.record import record
from sdcdsl.vocabulary.backends import BACKENDS
from sdcdsl.vocabulary.methods import Limits, Method, ModelSize, ProblemCounts
from sdcdsl.vocabulary.option import Kind, option

if TYPE_CHECKING:
    from sdcdsl.bind.option_cells import Mask, Ranges, Words


@record
class CtaOptions(Limits):
    norm: str = option(Kind.CHOICE, "how deviations are added up", "L1", choices=("L1", "L2", "Linf", "L1L2"))
    sense: str | Words = option(
        Kind.CHOICE,
        "which way sensitive cells move",
        "free",
        choices=("free", "up", "down", "keyed"),
        where=True,
    )
    range: Ranges | None = option(Kind.RANGE, "how far a cell may move, down .. up", None)
    keep_totals: bool | Mask = option(Kind.FLAG, "publish the totals as they are", False, where=True)
    integer: bool = option(Kind.FLAG, "publish whole numbers", False)
    omega1: float = option(Kind.NUMBER, "weight of the L1 part (norm L1L2)", 1, least=0)
    omega2: float = option(Kind.NUMBER, "weight of the L2 part (norm L1L2)", 1, least=0)
    squared: Mask | None = option(Kind.CELLS, "the cells of the L2 part (norm L1L2)", None)
    soft_totals: float | None = option(
        Kind.NUMBER, "let totals move at this penalty when nothing else works", None, least=0
    )


def sizes(of: ProblemCounts) -> ModelSize:
    variables, constraints = 2 * of.free + of.sensitive, of.relations + 4 * of.sensitive
    return ModelSize(variables, constraints, f"{variables:_} variables, {constraints:_} constraints")


METHOD = Method(
    "cta",
    "controlled tabular adjustment",
    "the closest safe table",
    "004, 000 §2.2",
    CtaOptions,
    aliases=("adjustment",),
    adjusts=True,
    traceable=True,
    lacks=("threads",),
    model="sdcdsl.methods.cta.model",
    accelerator="sdcdsl.accelerate.cta.driver:solve",
    accelerator_backends=BACKENDS,
    sizes=sizes,
)
