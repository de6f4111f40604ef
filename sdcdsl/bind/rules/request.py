"""request(share): a contributor who asked for protection matters in the cell.

Some statistics (foreign trade) publish unless the firm objects. Sensitive iff somebody who asked contributes more than
`share` of X = Σ |contribution|; share 0, the default, is every cell such a contributor has something in.

Level: stated, as for `threshold`; by default 20 % of X, below and above (τ-ARGUS: the safety margin of `REQ`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdcdsl.bind.rules.wording import figure, percent
from sdcdsl.record import record
from sdcdsl.vocabulary.option import Kind, option
from sdcdsl.vocabulary.rules import Formula, Rule, RuleArguments

if TYPE_CHECKING:
    from sdcdsl.bind.rules.cells import Judgement, RuleCells


@record
class RequestRule(RuleArguments):
    share: float = option(
        Kind.SHARE, "only where who asked gives more than this share of the cell", "0%", least=0, most=100, tighter=-1
    )
    level: float = option(Kind.SHARE, "the level it gives, as a share of the contributions", "20%", least=0, tighter=+1)

    def faults(self) -> list[str]:
        found = [] if 0 <= self.share < 1 else ["the share must lie between 0 % and 100 %"]
        return found if self.level > 0 else [*found, "the level must be positive"]

    def judge(self, cells: RuleCells) -> Judgement:
        assert cells.requested is not None, "nobody said who asked for protection"
        level = self.level * cells.absolute
        return cells.judged(cells.requested > self.share * cells.absolute, level, level)

    def said(self, cells: RuleCells, cell: int) -> str:
        theirs, all_of_it = (
            float(cells.requested[cell]) if cells.requested is not None else 0.0,
            cells.absolute[cell],
        )
        if not theirs > 0:
            return "nobody who contributes asked for protection"
        share = f"{percent(theirs / all_of_it)} ({figure(theirs)} of {figure(all_of_it)})"
        return f"somebody who asked for protection holds {share}, {percent(self.share)} allowed"


RULE = Rule(
    "request",
    "a contributor asked for protection",
    RequestRule,
    needs=("units",),
    formula=Formula("the largest contribution of somebody who asked > share · X", "level · X, below and above"),
)
