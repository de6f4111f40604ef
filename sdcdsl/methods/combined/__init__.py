"""Several forms of publication in one table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdcdsl.record import record
from sdcdsl.vocabulary.methods import Limits, Method, mixture_sizes
from sdcdsl.vocabulary.option import Kind, option

if TYPE_CHECKING:
    from sdcdsl.bind.option_cells import Amounts, Caps, Mask


@record
class CombinedOptions(Limits):
    exact: Mask | None = option(Kind.CELLS, "cells published as they are", None)
    suppress: Mask | None = option(Kind.CELLS, "cells that may be hidden", None)
    interval: Mask | None = option(Kind.CELLS, "cells that may be published as an interval", None)
    perturb: Amounts | None = option(Kind.AMOUNT_CELLS, "cells that may be changed by at most this", None)
    round: Amounts | None = option(Kind.AMOUNT_CELLS, "cells that are rounded to multiples of this", None)
    cap_hidden: Caps | None = option(Kind.WHOLE, "hide at most this many cells", None, least=0, where=True)
    cap_intervals: Caps | None = option(Kind.WHOLE, "publish at most this many intervals", None, least=0, where=True)
    cap_changed: Caps | None = option(Kind.WHOLE, "change at most this many cells", None, least=0, where=True)
    min_width: Amounts | None = option(Kind.AMOUNT, "an interval that is used is at least this wide", None)
    cap_width: Amounts | None = option(Kind.AMOUNT, "no interval is wider than this", None)


METHOD = Method(
    "combined",
    "several forms of publication in one table",
    "exact, hidden, interval, changed and rounded cells",
    "003 §7",
    CombinedOptions,
    parts=("exact", "suppress", "interval", "perturb", "round"),
    exact=True,
    conditional=True,
    lacks=("threads",),
    model="sdcdsl.methods.combined.definition:DEFINITION",
    accelerator="sdcdsl.accelerate.combined.driver:solve",
    sizes=mixture_sizes,
)
