"""zero(level): everybody in the cell reports zero, which publishes each of their answers.

Sensitive iff count > 0 and X = Σ |contribution| = 0. A cell without contributors is a structural zero, not sensitive.

Level: a share of zero is zero, so the level is an amount in the unit of the table (τ-ARGUS: the zero range of `ZERO`).
Only upwards: below zero there is nothing to hide in.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sdcdsl.bind.rules.cells import RuleCells
from sdcdsl.bind.rules.registry import Judgement, marked, rule
from sdcdsl.bind.rules.wording import Formula, figure, heads


@rule
@dataclass(frozen=True)
class Zero:
    level: float = 1.0

    name: ClassVar[str] = "zero"
    formula: ClassVar[Formula] = Formula("contributors > 0 and X = 0", "level, in units of the table, above only")

    @property
    def largest_needed(self) -> int:
        return 0

    def faults(self) -> list[str]:
        return [] if self.level > 0 else ["the level must be positive"]

    def judge(self, cells: RuleCells) -> Judgement:
        sensitive = (cells.count > 0) & (cells.absolute == 0)
        return marked(sensitive, np.zeros(len(cells.value)), np.full(len(cells.value), self.level))

    def said(self, cells: RuleCells, cell: int) -> str:
        if not cells.count[cell]:
            return "nobody contributes"
        who = heads(cells.count[cell])
        if cells.absolute[cell]:
            return f"{who}, together {figure(cells.absolute[cell])}: not all of them report zero"
        return f"{who}, nothing but zero reported"
