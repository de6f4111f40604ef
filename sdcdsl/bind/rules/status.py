"""status: the data's own status column says which cells are sensitive. There is no formula and nothing to judge."""

from __future__ import annotations

from sdcdsl.record import record
from sdcdsl.vocabulary.rules import Rule, RuleArguments


@record
class StatusRule(RuleArguments):
    pass


RULE = Rule("status", "the data's own status column says so", StatusRule, needs=("status",))
