"""contributors(n): too few contributors who contribute something.

Sensitive iff 0 < nonzero < n, where `nonzero` counts contributors of something else than zero. Stricter than
`threshold(n)`, for which a respondent who reports zero counts: nine zeros beside one figure publish that figure.

Level: a stated share of X = Σ |contribution|, as for `threshold`, for the same reason.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdcdsl.bind.rules.wording import faults_of_head_count, heads
from sdcdsl.record import record
from sdcdsl.vocabulary.option import Kind, option
from sdcdsl.vocabulary.rules import Formula, Rule, RuleArguments

if TYPE_CHECKING:
    from sdcdsl.bind.rules.cells import Judgement, RuleCells


@record
class ContributorsRule(RuleArguments):
    n: int = option(Kind.WHOLE, "a cell needs at least this many contributors of more than zero", least=1, tighter=+1)
    level: float = option(Kind.SHARE, "the level it gives, as a share of the contributions", "20%", least=0, tighter=+1)

    def faults(self) -> list[str]:
        return faults_of_head_count(self.n, self.level)

    def judge(self, cells: RuleCells) -> Judgement:
        level = self.level * cells.absolute
        return cells.judged((cells.nonzero > 0) & (cells.nonzero < self.n), level, level)

    def said(self, cells: RuleCells, cell: int) -> str:
        return f"{heads(cells.nonzero[cell])} of more than zero, {self.n} needed"


RULE = Rule(
    "contributors",
    "too few contributors of more than zero",
    ContributorsRule,
    needs=("count",),
    formula=Formula("0 < contributors of more than zero < n", "level · X, below and above"),
)
