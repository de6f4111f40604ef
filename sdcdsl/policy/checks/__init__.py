"""What can be wrong with a policy before any data is there. One file a concern; each check reads a policy and yields
what it finds."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sdcdsl.diagnostics import Diagnostic, Span
from sdcdsl.policy.checks import (
    addresses,
    blocks,
    coarser,
    inline,
    labels,
    names,
    noise,
    options,
    protection,
    requirements,
    statements,
)
from sdcdsl.policy.resolve import Policy

CHECKS: tuple[Callable[[Policy], Iterator[Diagnostic]], ...] = (
    blocks.check,
    names.check,
    options.check,
    statements.check,
    addresses.check,
    inline.check,
    coarser.check,
    labels.check,
    protection.check,
    noise.check,
    requirements.check,
)


def check(policy: Policy) -> list[Diagnostic]:
    found = [found for one in CHECKS for found in one(policy)]
    return [d for d in found if not _in_unreadable_text(policy, d)]


def _in_unreadable_text(policy: Policy, d: Diagnostic) -> bool:
    """What a statement means is not discussed while its words have to be put right: one mistake, one message."""
    return isinstance(d.place, Span) and policy.is_damaged(d.place)
