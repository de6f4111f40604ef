"""Sensitivity rules: one file a rule, each returning which cells are sensitive and how much protection they need.

A rule is a frozen dataclass: its fields are its parameters (fractions, so 10 % is 0.1), its `judge` is its formula.
Importing this package registers them all.
"""

from sdcdsl.bind.rules.cells import RuleCells
from sdcdsl.bind.rules.contributors import ContributorsRule
from sdcdsl.bind.rules.dominance import Dominance
from sdcdsl.bind.rules.p_percent import PPercent
from sdcdsl.bind.rules.pq import PQ
from sdcdsl.bind.rules.registry import RULES, Judgement, Rule, combined, rule
from sdcdsl.bind.rules.request import RequestRule
from sdcdsl.bind.rules.threshold import Threshold
from sdcdsl.bind.rules.wording import ExplainedRule, Formula
from sdcdsl.bind.rules.zero import Zero

__all__ = [
    "PQ",
    "RULES",
    "ContributorsRule",
    "Dominance",
    "ExplainedRule",
    "Formula",
    "Judgement",
    "PPercent",
    "RequestRule",
    "Rule",
    "RuleCells",
    "Threshold",
    "Zero",
    "combined",
    "rule",
]
