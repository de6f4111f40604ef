"""Codes that a table leaves out or merges: does that fit the dimension, as far as the policy spells it out?"""

from __future__ import annotations

from collections.abc import Iterator

from sdcdsl.diagnostics import Diagnostic, diagnostic, did_you_mean
from sdcdsl.policy import document as d
from sdcdsl.policy.checks.names import word_in
from sdcdsl.policy.coarser import NotCoarser, coarser, groups_of, inline_parents, level_of, recode_of
from sdcdsl.policy.resolve import Policy


def check(policy: Policy) -> Iterator[Diagnostic]:
    for table in policy.tables.values():
        by = table.last(d.By)
        if by is None or policy.is_damaged(table.span):
            continue
        for recode in table.all(d.Recode):
            yield from _statement(policy, table, by, recode)
        for name, level in zip(by.dimensions, by.levels, strict=False):
            if level == 0:
                yield diagnostic("SDC152", "levels count from 1, the total", word_in(by.span, "0"))
            elif name in policy.dimensions:
                yield from _fits(policy, table, name)
        for name in {recode.dimension for recode in table.all(d.Recode)}:
            if level_of(table, name) is None and name in by.dimensions and name in policy.dimensions:
                yield from _fits(policy, table, name)


def _statement(policy: Policy, table: d.Block, by: d.By, recode: d.Recode) -> Iterator[Diagnostic]:
    if recode.dimension not in by.dimensions and recode.dimension in policy.dimensions:
        headline = f"table `{table.name}` is not broken down by `{recode.dimension}`"
        yield diagnostic("SDC152", headline, word_in(recode.span, recode.dimension))
    if recode.file is None and not recode.groups:
        headline = "this recode merges nothing"
        yield diagnostic("SDC152", headline, recode.span, help="write a new code and what it stands for: low = A, B")


def _fits(policy: Policy, table: d.Block, name: str) -> Iterator[Diagnostic]:
    block, recode = policy.dimensions[name], recode_of(table, name)
    tree = None if policy.is_damaged(block.span) else inline_parents(block)
    if tree is None or (recode is not None and recode.file is not None):
        return
    try:
        coarser(tree, level_of(table, name), groups_of(recode))
    except NotCoarser as wrong:
        by = table.the(d.By)
        span = recode.span if recode is not None and wrong.code is not None else by.span
        unknown = wrong.code is not None and wrong.code not in tree.parent
        near = did_you_mean(wrong.code or "", tree.parent) if unknown else ""
        headline = f"dimension `{name}` cannot be published like this: {wrong.why}"
        place = word_in(span, wrong.code) if wrong.code is not None else span
        found = diagnostic("SDC152", headline, place, near, help=wrong.help)
        yield found.mark(block.heading, "declared here")
