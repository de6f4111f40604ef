"""Requirements that the policy's own constants already break."""

from __future__ import annotations

from collections.abc import Iterator

from sdcdsl.diagnostics import Diagnostic, diagnostic
from sdcdsl.policy import document as d
from sdcdsl.policy import expressions as x
from sdcdsl.policy.amounts import compare
from sdcdsl.policy.checks.protection import scenarios_of
from sdcdsl.policy.resolve import Policy
from sdcdsl.policy.write import expression

_LEVELS = ("lpl", "upl", "spl")
_HOLDS = {">=": (0, 1), ">": (1,), "<=": (-1, 0), "<": (-1,), "=": (0,), "!=": (-1, 1)}


def check(policy: Policy) -> Iterator[Diagnostic]:
    for fact in policy.facts_of(d.Require):
        condition = fact.condition
        if not isinstance(condition, x.Compare) or fact.where is not None or condition.operator not in _HOLDS:
            continue
        for protect in policy.protects.values():
            yield from _broken(policy, fact, condition, protect)


def _broken(policy: Policy, fact: d.Require, condition: x.Compare, protect: d.Block) -> Iterator[Diagnostic]:
    if scenarios_of(policy, protect):
        return  # their levels come on top: only the data shows the result
    left, left_by = _amount(condition.left, protect)
    right, right_by = _amount(condition.right, protect)
    order = compare(left, right) if left is not None and right is not None else None
    said = left_by or right_by
    if order is None or said is None or order in _HOLDS[condition.operator]:
        return
    found = diagnostic(
        "SDC142",
        f"`{protect.name}` breaks the requirement {expression(condition)}",
        said.span,
        f"{fact.because}",
    )
    yield found.mark(fact.span, "required here")


def _amount(side: x.Expression, protect: d.Block) -> tuple[x.Expression | None, d.Level | None]:
    """The amount that a level has in every cell, and who said so."""
    if not (isinstance(side, x.Name) and side.name in _LEVELS):
        return side, None
    said = [s for s in protect.all(d.Level) if s.level == side.name]
    if len(said) == 1 and said[0].where is None and said[0].against is None:
        return said[0].amount, said[0]
    return None, None
