"""lonely(k): one contributor makes up more than the share k of the cell. Level: x1 / k - X, below and above."""

from __future__ import annotations

from sdcdsl.record import record
from sdcdsl.vocabulary.option import Kind, option
from sdcdsl.vocabulary.rules import Formula, Rule, RuleArguments


@record
class Lonely(RuleArguments):
    k: float = option(Kind.SHARE, "the share of the largest contributor", least=1, most=100, tighter=-1)

    @property
    def largest_needed(self):
        return 1

    def judge(self, cells):
        return cells.judged_by_level(cells.shortfall(cells.top(1) / self.k, cells.absolute))

    def said(self, cells, cell):
        return f"the largest contributor holds {cells.largest[cell, 0]:.9g} of {cells.absolute[cell]:.9g}"


RULE = Rule(
    "lonely",
    "one contributor makes up most of the cell",
    Lonely,
    aliases=("alone",),
    formula=Formula("x1 > k · X", "x1 / k - X, below and above"),
)
