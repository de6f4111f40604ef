"""Advice about tables of counts."""

from __future__ import annotations

import datetime
from collections.abc import Iterator

from sdcdsl.diagnostics import Diagnostic, diagnostic
from sdcdsl.policy import document as d
from sdcdsl.policy.resolve import Policy
from sdcdsl.vocabulary.rules import RULES, find_rule


def groups_unwatched(policy: Policy, today: datetime.date) -> Iterator[Diagnostic]:
    """A table of counts by two dimensions or more, and no rule that sees that all of a group are in one category."""
    protected = {name for protect in policy.protects.values() for name in protect.tables}
    for name in sorted(protected & {*policy.tables}):
        table = policy.tables[name]
        if not counts(table) or len({n for by in table.all(d.By) for n in by.dimensions}) < 2:
            continue
        if not any(_sees_groups(fact, name) for fact in policy.facts_of(d.Sensitive)):
            rule = next(rule.name for rule in RULES.values() if rule.judges_groups)
            missing = [] if table.all(d.Attribute) else ["`attribute DIMENSION` in the table, and "]
            yield diagnostic(
                "SDC218",
                f"table `{name}` counts people, and no rule looks at groups of which all are in one category",
                table.heading,
                notes=["a row 9, 0, 0 tells something of everybody in it, and no cell of it is small"],
                help=f"{''.join(missing)}`sensitive {name} by {rule}(coalition: 1)`",
            )


def counts(table: d.Block) -> bool:
    """Whether the policy says that the values are numbers of contributors."""
    columns = {c.column for c in table.all(d.Count)}
    values = {s.column for s in table.all(d.ColumnOf) if s.quantity == "value"}
    return bool(table.all(d.Attribute)) or (not table.all(d.Sum) and (None in columns or bool(columns & values)))


def _sees_groups(fact: d.Sensitive, table: str) -> bool:
    rule = find_rule(fact.rule.name) if fact.rule is not None else None
    return rule is not None and rule.judges_groups and fact.cells.table in (None, table)
