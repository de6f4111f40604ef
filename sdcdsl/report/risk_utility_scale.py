"""The axis of losses of a risk–utility map."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

_FAR = 60.0  # times the least loss: more, and the axis is logarithmic
NOTHING = 1e-9  # per cent: rounding errors of a sum, not a loss


@dataclass(frozen=True)
class Scale:
    """The axis of losses: linear from zero, or logarithmic where losses differ too much to be told apart otherwise."""

    ticks: tuple[float, ...]
    logarithmic: bool = False

    @staticmethod
    def of(losses: Sequence[float]) -> Scale:
        some = [loss for loss in losses if loss > NOTHING]
        if not some:
            return Scale((0.0, 0.25, 0.5, 0.75, 1.0))
        least, most = min(some), max(some)
        if most > _FAR * least:
            first, last = math.floor(math.log10(least * 0.96)), math.ceil(math.log10(most * 1.04))
            step = -(-(last - first) // 10)  # not more than ten powers have room for their figures
            return Scale(tuple(10.0**power for power in range(first, last + step, step)), logarithmic=True)
        raw = most * 1.04 / 6
        power = 10.0 ** math.floor(math.log10(raw))
        step = next(s * power for s in (1.0, 2.0, 2.5, 5.0, 10.0) if s * power >= raw * (1 - 1e-9))
        return Scale(tuple(i * step for i in range(math.ceil(most * 1.04 / step) + 1)))

    def share(self, loss: float) -> float:
        """Where a loss lies between the first tick and the last."""
        least, most = self.ticks[0], self.ticks[-1]
        loss = min(max(loss, least), most)
        if self.logarithmic:
            return math.log(loss / least) / math.log(most / least)
        return (loss - least) / (most - least)
