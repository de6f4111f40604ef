"""One number for what a policy means: layout, comments, and which file says what do not count."""

from __future__ import annotations

import hashlib

from sdcdsl.policy.resolve import Policy
from sdcdsl.policy.write import fact, heading, quoted, statement


def digest(policy: Policy) -> str:
    """sha256 over the resolved policy in its canonical words, blocks by kind and name, statements in their order."""
    lines = [f"policy {quoted(policy.title or '')}", f"seed {policy.seed}"]
    for kind in sorted(policy.blocks):
        for name, block in sorted(policy.blocks[kind].items()):
            lines += [f"{name} = {heading(block)}", *(f"  {statement(s)}" for s in block.statements)]
    lines += [fact(one) for one in policy.facts]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()
