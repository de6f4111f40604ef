"""contributors(n): too few contributors who contribute something.

Sensitive iff 0 < nonzero < n, where `nonzero` counts contributors of something else than zero. Stricter than
`threshold(n)`, for which a respondent who reports zero counts: nine zeros beside one figure publish that figure.

Level: a stated share of X = Σ |contribution|, as for `threshold`, for the same reason.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from sdcdsl.bind.rules.cells import RuleCells
from sdcdsl.bind.rules.registry import Judgement, faults_of_head_count, marked, rule
from sdcdsl.bind.rules.wording import Formula, heads


@rule
@dataclass(frozen=True)
class ContributorsRule:
    n: int
    level: float = 0.2

    name: ClassVar[str] = "contributors"
    formula: ClassVar[Formula] = Formula("0 < contributors of more than zero < n", "level · X, below and above")

    @property
    def largest_needed(self) -> int:
        return 0

    def faults(self) -> list[str]:
        return faults_of_head_count(self.n, self.level)

    def judge(self, cells: RuleCells) -> Judgement:
        level = self.level * cells.absolute
        return marked((cells.nonzero > 0) & (cells.nonzero < self.n), level, level)

    def said(self, cells: RuleCells, cell: int) -> str:
        return f"{heads(cells.nonzero[cell])} of more than zero, {self.n} needed"
