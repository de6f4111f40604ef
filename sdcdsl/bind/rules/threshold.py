"""threshold(n): too few contributors.

Sensitive iff 0 < count < n. Empty cells are not: there is nobody to protect (see `zero` for those who report zero).

Level. The rule counts heads and measures nothing, so no level follows from it; τ-ARGUS takes a *stated* share of the
cell, `FREQ(3, 20)` being 20 %. Here it is `level`, by default 20 % of X = Σ |contribution|, below and above. With one
or two contributors X is about what one of them has at stake, so the room grows with the cell.

In a frequency table the value is the count itself, and a share of 2 hides nothing. There the attacker must not be able
to exclude a safe count: upper = n - count; and as far below, or down to an empty cell: lower = min(count, n - count).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sdcdsl.bind.rules.cells import RuleCells
from sdcdsl.bind.rules.registry import Judgement, faults_of_head_count, marked, rule
from sdcdsl.bind.rules.wording import Formula, heads


@rule
@dataclass(frozen=True)
class Threshold:
    n: int
    level: float = 0.2

    name: ClassVar[str] = "threshold"
    formula: ClassVar[Formula] = Formula(
        "0 < contributors < n", "level · X, below and above; in a table of counts n - contributors above"
    )

    @property
    def largest_needed(self) -> int:
        return 0

    def faults(self) -> list[str]:
        return faults_of_head_count(self.n, self.level)

    def judge(self, cells: RuleCells) -> Judgement:
        sensitive = (cells.count > 0) & (cells.count < self.n)
        if cells.frequency:
            upper = (self.n - cells.count).astype(np.float64)
            return marked(sensitive, np.minimum(cells.count, upper), upper)
        level = self.level * cells.absolute
        return marked(sensitive, level, level)

    def said(self, cells: RuleCells, cell: int) -> str:
        return f"{heads(cells.count[cell])}, {self.n} needed"
