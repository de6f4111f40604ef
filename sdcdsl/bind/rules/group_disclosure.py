"""group_disclosure(coalition): who is known to be in a group is known to be in one category of an attribute.

A group is a combination of codes of the identifying dimensions, N people; the category holds n of them, and D = N - n
are elsewhere. Sensitive iff n > 0 and D ≤ coalition: D members who are elsewhere, and know that they are, know that
everybody else is in the category. With coalition 0 only what strangers learn counts: all of the group are in it.

Level: of D, not of a cell. Attackers must not be able to exclude coalition + 1 people elsewhere: one more than the
coalition can account for. So upper = coalition + 1 - D above D, and nothing below.

Codes of the attribute that are no leaves are the combinations of categories that mean something together. Where a
combination is sensitive, what is inside it needs nothing beyond it: D of a category is at least D of what contains it.
Differences between nested groups need nothing either: the leaves of the difference are groups of the table, and one of
them has somebody in the category and no more outside it than the difference has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdcdsl.record import record
from sdcdsl.vocabulary.option import Kind, option
from sdcdsl.vocabulary.rules import Formula, Rule, RuleArguments

if TYPE_CHECKING:
    from sdcdsl.bind.rules.cells import Judgement, RuleCells


@record
class GroupDisclosure(RuleArguments):
    coalition: int = option(
        Kind.WHOLE,
        "so many members who pool what they know learn nothing of the others",
        1,
        least=0,
        tighter=+1,
    )

    def judge(self, cells: RuleCells) -> Judgement:
        assert cells.group is not None
        elsewhere = cells.group - cells.value
        sensitive = (cells.value > 0) & (elsewhere <= self.coalition)
        return cells.judged(sensitive, 0.0, self.coalition + 1 - elsewhere)

    def said(self, cells: RuleCells, cell: int) -> str | None:
        if cells.group is None:
            return None
        there, group = cells.value[cell], cells.group[cell]
        return f"{there:g} of a group of {group:g}, {group - there:g} elsewhere, {self.coalition + 1} needed"


RULE = Rule(
    "group_disclosure",
    "all of a group, or all but a coalition, are in one category of an attribute",
    GroupDisclosure,
    needs=("groups",),
    aliases=("attribute_disclosure", "k_disclosure"),
    formula=Formula(
        "contributors > 0 and group - contributors ≤ coalition",
        "coalition + 1 - (group - contributors), above, of those of the group who are elsewhere",
    ),
)
