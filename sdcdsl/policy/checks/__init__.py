"""What can be wrong with a policy before any data is there. One file a concern; each check reads a policy and yields
what it finds."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sdcdsl.diagnostics import Diagnostic
from sdcdsl.policy.checks import addresses, blocks, inline, names, options, protection, requirements, statements
from sdcdsl.policy.resolve import Policy

CHECKS: tuple[Callable[[Policy], Iterator[Diagnostic]], ...] = (
    blocks.check,
    names.check,
    options.check,
    statements.check,
    addresses.check,
    inline.check,
    protection.check,
    requirements.check,
)


def check(policy: Policy) -> list[Diagnostic]:
    return [found for one in CHECKS for found in one(policy)]
