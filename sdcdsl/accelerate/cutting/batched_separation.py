"""Questions of a separation round that others may answer: a few requirements at a time, each batch from the same
beginning.

Where a linear program answers, which of several good answers it gives depends on the question before. So a batch starts
with a solver that remembers nothing: its answers depend on the point and its requirements, and not on who was asked, or
what.
"""

from __future__ import annotations

import threading
from typing import Any

from sdcdsl.accelerate.cutting.attacks import AttackAnswer, Attacks, LinearAttacks, attacks_on
from sdcdsl.accelerate.cutting.capacities import Capacities
from sdcdsl.accelerate.cutting.requirements import CutRequirements, Levels


class BatchedSeparation:
    """What questions need beside a point: goes to every worker once. Each thread there has a solver of its own."""

    def __init__(self, demands: CutRequirements, levels: Levels, sides: int):
        self.demands, self.levels, self.requirements = demands, levels, sides
        self._own = threading.local()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_own"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__ |= state
        self._own = threading.local()

    @property
    def attacks(self) -> Attacks:
        if not hasattr(self._own, "attacks"):
            self._own.attacks = attacks_on(self.demands.classes)
        return self._own.attacks


def answered(asking: BatchedSeparation, point: Capacities, batch: list[int]) -> list[list[AttackAnswer]]:
    """For every requirement its answer, for every slide two: upwards and downwards."""
    attacks, levels = asking.attacks, asking.levels
    point = point.within(asking.demands)
    if isinstance(attacks, LinearAttacks):
        attacks.forget()
    out = []
    for s in batch:
        cell, viewer, need = int(levels.cell[s]), int(levels.viewer[s]), float(levels.need[s])
        signs = (int(levels.sign[s]),) if s < asking.requirements else (1, -1)
        slack = point.at(viewer, need)
        out.append([attacks.ask(cell, sign, need, *slack) for sign in signs])
    return out
