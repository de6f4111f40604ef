"""What a reader knows of every cell: of one table, and of any table that may come."""

from __future__ import annotations

import numpy as np

from sdcdsl.methods.ecta.ranges import ValueRanges
from sdcdsl.methods.instance import Instance
from sdcdsl.pattern import Pattern, combined, ecta, hidden


def published(instance: Instance, z: np.ndarray, alpha: float, beta: float) -> Pattern:
    """What a reader has: v, α and β; cells that must be published stand as they are, hidden ones stay hidden."""
    a, v = instance.a, instance.a + z
    shown = ecta(v, instance.sensitive, alpha, beta)
    as_it_is = ~instance.may_open
    out = combined(
        [
            (np.ones(len(a), dtype=bool), shown),
            (as_it_is | instance.open_anyway, hidden(a, instance.open_anyway)),
        ]
    )
    # Rounding must not put the truth outside.
    return Pattern(np.minimum(out.low, a), np.maximum(out.high, a), out.value, out.status, True, shown.about)


def widest(
    instance: Instance, allowed: ValueRanges, alpha: float, most: float, beta: float
) -> tuple[np.ndarray, np.ndarray]:
    """A box that holds the region of every table with these ranges, other cells moved by `most` at most, and this β."""
    a, size = instance.a, np.abs(instance.a)
    v_low, v_high = a - most * size, a + most * size
    cells = np.flatnonzero(instance.sensitive)
    v_low[cells], v_high[cells] = allowed.low, allowed.high
    one, other = (published(instance, v - a, alpha, beta) for v in (v_low, v_high))
    return np.minimum(one.low, other.low), np.maximum(one.high, other.high)
