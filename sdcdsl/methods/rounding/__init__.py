"""Controlled rounding: the table in multiples of a base, additive, with every level kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdcdsl.record import record
from sdcdsl.vocabulary.methods import Limits, Method, mixture_sizes
from sdcdsl.vocabulary.option import Kind, option

if TYPE_CHECKING:
    from sdcdsl.bind.option_cells import Amounts


@record
class RoundingOptions(Limits):
    base: Amounts = option(Kind.AMOUNT, "round to multiples of this")
    steps: int = option(Kind.WHOLE, "how many multiples away a cell may go", 0, least=0)
    below: int | None = option(Kind.WHOLE, "only counts below this are rounded, to zero or the base", None, least=2)


METHOD = Method(
    "rounding",
    "controlled rounding",
    "the table in multiples of a base",
    "003 §5",
    RoundingOptions,
    adjusts=True,
    exact=True,
    conditional=True,
    lacks=("threads",),
    excludes=(("below", "steps"),),
    model="sdcdsl.methods.rounding.definition:DEFINITION",
    accelerator="sdcdsl.accelerate.rounding.driver:solve",
    solve_with=(("below", "sdcdsl.methods.rounding.small_counts:solve"),),
    sizes=mixture_sizes,
)
