"""zero(level): everybody in the cell reports zero, which publishes each of their answers.

Sensitive iff count > 0 and X = Σ |contribution| = 0. A cell without contributors is a structural zero, not sensitive.

Level: a share of zero is zero, so the level is an amount in the unit of the table (τ-ARGUS: the zero range of `ZERO`).
Only upwards: below zero there is nothing to hide in.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdcdsl.bind.rules.wording import figure, heads
from sdcdsl.record import record
from sdcdsl.vocabulary.option import Kind, option
from sdcdsl.vocabulary.rules import Formula, Rule, RuleArguments

if TYPE_CHECKING:
    from sdcdsl.bind.rules.cells import Judgement, RuleCells


@record
class Zero(RuleArguments):
    level: float = option(Kind.NUMBER, "the level it gives above zero, in units of the table", 1, least=0, tighter=+1)

    def faults(self) -> list[str]:
        return [] if self.level > 0 else ["the level must be positive"]

    def judge(self, cells: RuleCells) -> Judgement:
        sensitive = (cells.count > 0) & (cells.absolute == 0)
        return cells.judged(sensitive, 0.0, self.level)

    def said(self, cells: RuleCells, cell: int) -> str:
        if not cells.count[cell]:
            return "nobody contributes"
        who = heads(cells.count[cell])
        if cells.absolute[cell]:
            return f"{who}, together {figure(cells.absolute[cell])}: not all of them report zero"
        return f"{who}, nothing but zero reported"


RULE = Rule(
    "zero",
    "all contributors report zero, which tells what each of them reported",
    Zero,
    needs=("count",),
    formula=Formula("contributors > 0 and X = 0", "level, in units of the table, above only"),
)
