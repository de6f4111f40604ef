"""`protect B like A { … }`: B has the statements of A, but for its releases, and then its own.

By R1 and R2 that is an override with another name: what is B's own comes last. Overrides of A count for B as well, and
its own overrides come last of all. Which files B writes only B can say.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from sdcdsl.diagnostics import Diagnostic, diagnostic, did_you_mean
from sdcdsl.policy import document as d


def like_others(
    blocks: Mapping[str, d.Block], may_exist: frozenset[str] = frozenset()
) -> tuple[dict[str, d.Block], list[Diagnostic]]:
    found = list(_wrong(blocks, may_exist))
    return {name: replace(b, statements=_statements(blocks, b), like=None) for name, b in blocks.items()}, found


def _statements(blocks: Mapping[str, d.Block], block: d.Block) -> tuple[d.Statement, ...]:
    chain = list(_chain(blocks, block))
    inherited = [s for one in reversed(chain[1:]) for s in one.statements if not isinstance(s, d.Release)]
    return (*inherited, *block.statements)


def _chain(blocks: Mapping[str, d.Block], block: d.Block) -> Iterator[d.Block]:
    """The block, the one it is like, and so on; a circle ends where it closes."""
    seen: set[str] = set()
    at: d.Block | None = block
    while at is not None and at.name not in seen:
        seen.add(at.name)
        yield at
        at = blocks.get(at.like) if at.like is not None else None


def _wrong(blocks: Mapping[str, d.Block], may_exist: frozenset[str]) -> Iterator[Diagnostic]:
    for block in blocks.values():
        if block.like is None:
            continue
        if block.like not in blocks:
            if block.like.rsplit(".", 1)[-1] not in may_exist:
                near = did_you_mean(block.like, [name for name in blocks if name != block.name])
                yield diagnostic("SDC154", f"there is no protect block `{block.like}`", block.heading, near)
            continue
        last = list(_chain(blocks, block))[-1]
        circle = [one.name for one in _chain(blocks, block)]
        if last.like == block.name and block.name == min(circle):  # said once
            names = " → ".join([*circle, block.name])
            yield diagnostic("SDC154", f"these blocks are like each other: {names}", block.heading)
