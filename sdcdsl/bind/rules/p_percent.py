"""p_percent(p, n): somebody among the contributors can estimate another to within p.

The n next-largest contributors together (n = 1: the second largest alone) know x_2 + … + x_{n+1} and see X. Whatever
the others contribute is at least zero, so x_1 ≤ X - x_2 - … - x_{n+1}, an estimate that is too high by the remainder
R = X - x_1 - … - x_{n+1}. Sensitive iff R < p x_1. This is the worst case: any other coalition of n leaves a larger
remainder, any other target is smaller than x_1 while the remainder is not (Hundepool et al., Statistical Disclosure
Control, 2012, chapter 4).

Level: upper = p x_1 - R. If the attackers can only bound the cell by X + upper, their estimate of x_1 is
X + upper - x_2 - … - x_{n+1} = (1 + p) x_1, just outside. Lower the same, by convention:
without knowing the others, the attackers have no lower estimate of x_1 that the cell's lower bound would decide.
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
class PPercent(RuleArguments):
    p: float = option(Kind.SHARE, "how closely one contributor may estimate another", least=0, tighter=+1)
    n: int = option(Kind.WHOLE, "how many contributors may work together", 1, least=1, tighter=+1)

    @property
    def largest_needed(self) -> int:
        return self.n + 1

    def faults(self) -> list[str]:
        found = [] if self.p > 0 else ["p must be positive"]
        return found if self.n >= 0 else [*found, "the number of attackers cannot be negative"]

    def judge(self, cells: RuleCells) -> Judgement:
        return cells.judged_by_level(cells.shortfall(self.p * cells.largest[:, 0], cells.remainder(self.n + 1)))

    def said(self, cells: RuleCells, cell: int) -> str:
        first, rest = float(cells.largest[cell, 0]), float(cells.remainder(self.n + 1)[cell])
        if not first > 0:
            return "nobody contributes anything"
        who = {0: "everybody", 1: "the second largest contributor"}.get(self.n, f"the {self.n} next largest together")
        how = f"{percent(rest / first)} (all others: {figure(rest)}, the largest: {figure(first)})"
        return f"{who} can estimate the largest within {how}, {percent(self.p)} required"


RULE = Rule(
    "p_percent",
    "one contributor can estimate another too closely",
    PPercent,
    aliases=("p",),
    formula=Formula("R < p · x1, with R = X - x1 - … - x(n+1); n = 1: R = X - x1 - x2", "p · x1 - R, below and above"),
)
