"""threshold(n): too few contributors.

Sensitive iff 0 < count < n. Empty cells are not: there is nobody to protect (see `zero` for those who report zero).

Level. The rule counts heads and measures nothing, so no level follows from it; τ-ARGUS takes a *stated* share of the
cell, `FREQ(3, 20)` being 20 %. Here it is `level`, by default 20 % of X = Σ |contribution|, below and above. With one
or two contributors X is about what one of them has at stake, so the slack grows with the cell.

In a frequency table the value is the count itself, and a share of 2 hides nothing. There the attacker must not be able
to exclude a safe count: upper = n - count; and as far below, or down to an empty cell: lower = min(count, n - count).
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
class Threshold(RuleArguments):
    n: int = option(Kind.WHOLE, "fewer contributors than this make a cell sensitive", least=1, tighter=+1)
    level: float = option(Kind.SHARE, "the level it gives, as a share of the contributions", "20%", least=0, tighter=+1)

    def faults(self) -> list[str]:
        return faults_of_head_count(self.n, self.level)

    def judge(self, cells: RuleCells) -> Judgement:
        sensitive = (cells.count > 0) & (cells.count < self.n)
        if cells.frequency:
            upper = self.n - cells.count
            return cells.judged(sensitive, upper.clip(max=cells.count), upper)
        level = self.level * cells.absolute
        return cells.judged(sensitive, level, level)

    def said(self, cells: RuleCells, cell: int) -> str:
        return f"{heads(cells.count[cell])}, {self.n} needed"


RULE = Rule(
    "threshold",
    "too few contributors",
    Threshold,
    needs=("count",),
    aliases=("freq",),
    formula=Formula("0 < contributors < n", "level · X, below and above; in a table of counts n - contributors above"),
)
