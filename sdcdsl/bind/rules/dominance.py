"""dominance(n, k): the n largest contributors make up more than the share k of the cell.

Sensitive iff x_1 + … + x_n > k X (Hundepool et al., Statistical Disclosure Control, 2012, chapter 4;
X = Σ |contribution|).

Level: upper = (x_1 + … + x_n) / k - X. Were the cell's value X + upper, the n largest would hold exactly the share k:
an attacker who cannot exclude X + upper cannot conclude that the limit is broken. Lower the same, by convention: the
rule itself says nothing about underestimates.
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
class Dominance(RuleArguments):
    n: int = option(Kind.WHOLE, "the number of largest contributors", least=1, tighter=+1)
    k: float = option(Kind.SHARE, "their share of the value that makes a cell sensitive", least=0, most=100, tighter=-1)

    @property
    def largest_needed(self) -> int:
        return self.n

    def faults(self) -> list[str]:
        found = [] if self.n >= 1 else ["n must be at least 1"]
        return found if 0 < self.k < 1 else [*found, "k must lie between 0 % and 100 %"]

    def judge(self, cells: RuleCells) -> Judgement:
        return cells.judged_by_level(cells.shortfall(cells.top(self.n) / self.k, cells.absolute))

    def said(self, cells: RuleCells, cell: int) -> str:
        top, all_of_it = float(cells.top(self.n)[cell]), float(cells.absolute[cell])
        if not all_of_it > 0:
            return "nobody contributes anything"
        who = "the largest contributor holds" if self.n == 1 else f"the {self.n} largest contributors hold"
        share = f"{percent(top / all_of_it)} ({figure(top)} of {figure(all_of_it)})"
        return f"{who} {share}, {percent(self.k)} allowed"


RULE = Rule(
    "dominance",
    "a few contributors make up most of the cell",
    Dominance,
    aliases=("nk",),
    formula=Formula("x1 + … + xn > k · X", "(x1 + … + xn) / k - X, below and above"),
)
