"""pq(p, q): the prior-posterior rule.

Before publication everybody can estimate any contribution to within q (q = 100 %: only that it is not negative). After
it, the second largest subtracts its own and the lower bounds (1 - q) x_i of the others, so its estimate of x_1 is too
high by q R, with R = X - x_1 - x_2. Sensitive iff q R < p x_1 (Hundepool et al., Statistical Disclosure Control, 2012,
chapter 4); q = 100 % is p_percent.

Level: upper = (p / q) x_1 - R, the usual one: with R + upper in place of R the rule itself would call the cell safe,
q (R + upper) = p x_1. (An attacker who bounds the cell by X + upper errs by q R + upper, which reaches p x_1 already
for upper = p x_1 - q R, a smaller level: the usual one is on the safe side.) Lower the same, by convention.
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
class PQ(RuleArguments):
    p: float = option(Kind.SHARE, "how closely one contributor may estimate another", least=0, tighter=+1)
    q: float = option(Kind.SHARE, "how closely everybody knew contributions before", least=0, most=100, tighter=-1)

    @property
    def largest_needed(self) -> int:
        return 2

    def faults(self) -> list[str]:
        return [] if 0 < self.p < self.q <= 1 else ["p must be positive and below q, q at most 100 %"]

    def judge(self, cells: RuleCells) -> Judgement:
        return cells.judged_by_level(cells.shortfall(self.p / self.q * cells.largest[:, 0], cells.remainder(2)))

    def said(self, cells: RuleCells, cell: int) -> str:
        first, rest = float(cells.largest[cell, 0]), float(cells.remainder(2)[cell])
        if not first > 0:
            return "nobody contributes anything"
        how = f"{percent(self.q * rest / first)} (all others: {figure(rest)}, known within {percent(self.q)} before"
        how += f"; the largest: {figure(first)})"
        return f"the second largest contributor can estimate the largest within {how}, {percent(self.p)} required"


RULE = Rule(
    "pq",
    "p_percent with prior knowledge of contributions",
    PQ,
    formula=Formula("q · R < p · x1, with R = X - x1 - x2", "(p / q) · x1 - R, below and above"),
)
