"""Interval protection (papers 000 and 003 §4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdcdsl.record import record
from sdcdsl.vocabulary.methods import Limits, Method, ModelSize, ProblemCounts, with_witnesses
from sdcdsl.vocabulary.option import Kind, option

if TYPE_CHECKING:
    from sdcdsl.bind.option_cells import Amounts


@record
class IpOptions(Limits):
    min_width: Amounts | None = option(Kind.AMOUNT, "an interval that is used is at least this wide", None)
    cap_width: Amounts | None = option(Kind.AMOUNT, "no interval is wider than this", None)
    cap_intervals: int | None = option(Kind.WHOLE, "publish at most this many intervals", None, least=0)
    avoid_centre: bool = option(Kind.FLAG, "move the ends of intervals so that the midpoint is not the value", False)
    previous: str | None = option(
        Kind.TEXT, "last period's released file: cells touched there are cheaper to touch again", None
    )
    previous_discount: float = option(Kind.SHARE, "how much cheaper they are", "50%", least=0, most=100)


def sizes(of: ProblemCounts) -> ModelSize:
    return with_witnesses(of, 2 * of.free, of.pairs, f"{2 * of.free:_} variables and cuts")


METHOD = Method(
    "ip",
    "interval protection",
    "the table with intervals for some cells",
    "000, 003 §4",
    IpOptions,
    aliases=("intervals",),
    exact=True,
    intervals=True,
    conditional=True,
    lacks=("threads",),
    model="sdcdsl.methods.ip.model",
    accelerator="sdcdsl.accelerate.ip.driver:solve",
    sizes=sizes,
)
