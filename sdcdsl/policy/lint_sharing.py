"""Advice on figures that stand in several releases."""

from __future__ import annotations

import datetime
from collections.abc import Iterator

from sdcdsl.diagnostics import Diagnostic, diagnostic
from sdcdsl.policy import document as d
from sdcdsl.policy.measure import measure_of
from sdcdsl.policy.resolve import Policy


def apart(policy: Policy, today: datetime.date) -> Iterator[Diagnostic]:
    """Blocks are protected without regard to each other, and readers lay their releases side by side."""
    released = [p for p in policy.protects.values() if p.all(d.Release)]
    for at, protect in enumerate(released):
        for before in released[:at]:
            shared = _shared(policy, before, protect)
            if shared is None:
                continue
            old, new = shared
            found = diagnostic(
                "SDC217",
                f"`{protect.name}` and `{before.name}` publish the same figures, each without regard to the other",
                protect.heading,
                "this table again" if old == new else f"`{new}` shares cells with `{old}`",
                notes=["a figure that one of them hides may stand in the other, or follow from both"],
                help="one release of the table" if old == new else f"protect {old}, {new} as one block",
            )
            yield found.mark(before.heading, "protected here")
            break


def _shared(policy: Policy, one: d.Block, other: d.Block) -> tuple[str, str] | None:
    """A table of each that hold the same figures."""
    pairs = ((old, new) for old in one.tables for new in other.tables if {old, new} <= policy.tables.keys())
    return next(((o, n) for o, n in pairs if measure_of(policy.tables[o]) == measure_of(policy.tables[n])), None)
