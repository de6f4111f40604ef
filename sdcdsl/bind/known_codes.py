"""Codes that the policy names and the data's hierarchies do not have.

What stands in the policy itself is checked without data (SDC116). A hierarchy file is known only now; a condition on a
code that it does not have selects nothing, and must not do so in silence.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping

from sdcdsl.bind.hierarchy import DimensionCodes
from sdcdsl.diagnostics import Diagnostic, Span, diagnostic, did_you_mean
from sdcdsl.policy import document as d
from sdcdsl.policy import expressions as x
from sdcdsl.policy.resolve import Policy
from sdcdsl.policy.types import code_text


def unknown_codes(
    policy: Policy, bound: Mapping[str, DimensionCodes | None], published: Mapping[str, Container[str]]
) -> Iterator[Diagnostic]:
    """`published`: the codes that tables have, by dimension; some leave out the finest, or merge codes."""
    for name, text, span, of_records in _named(policy):
        codes = bound.get(name) or bound.get(name.rpartition(".")[0])
        if codes is None:
            continue
        there = published.get(codes.name, codes.index)
        if text in (codes.index if of_records else there):
            continue
        # House rules may speak of codes that this table's version of a dimension does not have, and prefixes of codes
        # are found in the data: this period's need not hold them all.
        if policy.is_used(span) or (policy.dimensions[codes.name].all(d.HierarchyPrefix) and text not in codes.index):
            continue
        if text in codes.index:
            headline = f"no table publishes code `{text}` of dimension `{codes.name}`"
            note = "what a table leaves out or merges (`by … to level N`, `recode`) is none of its cells"
            yield diagnostic("SDC116", headline, span, notes=[note])
            continue
        label = did_you_mean(text, codes.codes)
        yield diagnostic("SDC116", f"dimension `{codes.name}` has no code `{text}`", span, label)


def _named(policy: Policy) -> Iterator[tuple[str, str, Span | None, bool]]:
    """Every code of a condition: its dimension, its text, its place, and whether the condition is about records."""
    statements = [s for blocks in policy.blocks.values() for b in blocks.values() for s in b.statements]
    of_records = tuple(s for s in statements if isinstance(s, d.Only))
    of_cells = tuple(s for s in statements if not isinstance(s, d.Only))
    yield from ((*one, True) for one in _in_conditions(policy, of_records))
    yield from ((*one, False) for one in _in_conditions(policy, (of_cells, policy.facts)))


def _in_conditions(policy: Policy, statements: object) -> Iterator[tuple[str, str, Span | None]]:
    for e in x.walk(statements):
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
