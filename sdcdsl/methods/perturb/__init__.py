"""Cell perturbation: another table within given ranges, sensitive cells at an end of theirs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdcdsl.record import record
from sdcdsl.vocabulary.methods import Limits, Method, mixture_sizes
from sdcdsl.vocabulary.option import Kind, option

if TYPE_CHECKING:
    from sdcdsl.bind.option_cells import Ranges, Words


@record
class PerturbOptions(Limits):
    range: Ranges = option(Kind.RANGE, "how far a cell may move, down .. up")
    end: str | Words = option(
        Kind.CHOICE,
        "which end of its range a sensitive cell takes",
        "free",
        choices=("free", "low", "high"),
        where=True,
    )
    cap_changed: int | None = option(Kind.WHOLE, "change at most this many cells", None, least=0)


METHOD = Method(
    "perturb",
    "cell perturbation",
    "the table with some cells changed",
    "003 §6",
    PerturbOptions,
    aliases=("perturbation",),
    adjusts=True,
    exact=True,
    conditional=True,
    lacks=("threads",),
    model="sdcdsl.methods.perturb.definition:DEFINITION",
    accelerator="sdcdsl.accelerate.perturb.driver:solve",
    sizes=mixture_sizes,
)
