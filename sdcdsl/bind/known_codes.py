"""Codes that the policy names and the data's hierarchies do not have.

What stands in the policy itself is checked without data (SDC116). A hierarchy file is known only now; a condition on a
code that it does not have selects nothing, and must not do so in silence.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sdcdsl.bind.hierarchy import DimensionCodes
from sdcdsl.diagnostics import Diagnostic, Span, diagnostic, did_you_mean
from sdcdsl.policy import document as d
from sdcdsl.policy import expressions as x
from sdcdsl.policy.resolve import Policy
from sdcdsl.policy.types import code_text


def unknown_codes(policy: Policy, bound: Mapping[str, DimensionCodes | None]) -> Iterator[Diagnostic]:
    for name, text, span in _named(policy):
        codes = bound.get(name) or bound.get(name.rpartition(".")[0])
        if codes is None or text in codes.index:
            continue
        # House rules may speak of codes that this table's version of a dimension does not have, and prefixes of codes
        # are found in the data: this period's need not hold them all.
        if not policy.is_used(span) and not policy.dimensions[codes.name].all(d.HierarchyPrefix):
            label = did_you_mean(text, codes.codes)
            yield diagnostic("SDC116", f"dimension `{codes.name}` has no code `{text}`", span, label)


def _named(policy: Policy) -> Iterator[tuple[str, str, Span | None]]:
    """Every code of a condition: its dimension, its text, its place."""
    statements = tuple(s for blocks in policy.blocks.values() for b in blocks.values() for s in b.statements)
    for e in (*x.walk(statements), *x.walk(policy.facts)):
        match e:
            case x.Member(dimension, codes):
                yield from ((dimension, code.text, code.span) for code in codes)
            case x.Under(dimension, code):
                yield dimension, code.text, code.span
            case x.Compare(_, left, right):
                for side, other in ((left, right), (right, left)):
                    text = code_text(other)
                    if isinstance(side, x.Name) and side.name in policy.dimensions and text is not None:
                        yield side.name, text, other.span
                        break
