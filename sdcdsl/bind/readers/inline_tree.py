"""Trees written out: equations `total = a + b - c`, or an outline in which depth says what belongs to what."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from sdcdsl.bind.hierarchy import CodeTree
from sdcdsl.bind.readers.tree_building import Branch, grow
from sdcdsl.bind.readers.wording import clip, offenders
from sdcdsl.diagnostics import Diagnostic, Place


@dataclass(frozen=True, slots=True)
class Equation:
    """`total` is the sum of the terms, each with its sign (+1 or -1)."""

    total: str
    terms: Sequence[tuple[int, str]]
    place: Place


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of an outline; depth 0 is the top."""

    depth: int
    code: str
    place: Place


def tree_from_equations(
    equations: Sequence[Equation], *, place: Place, total: str | None = None, name: str = ""
) -> tuple[CodeTree | None, list[Diagnostic]]:
    """Every left-hand side is a node; the one that is no part of another is the root."""
    first: dict[str, Equation] = {}
    again = [e for e in equations if first.setdefault(e.total, e) is not e]
    problems = []
    if again:
        problems.append(
            offenders(
                "SDC312",
                "a total with two sums in one tree",
                ((e.place, f"`{clip(e.total)}` is a sum already") for e in again),
                len(again),
                help="a second way to add up is a second tree over the same leaves",
            )
        )
    branches = (Branch(e.total, code, e.place, sign) for e in first.values() for sign, code in e.terms)
    tree, more = grow(branches, total=total, name=name, place=place)
    return (None if problems else tree), problems + more


def tree_from_outline(
    entries: Sequence[Entry], *, place: Place, total: str | None = None, name: str = ""
) -> tuple[CodeTree | None, list[Diagnostic]]:
    """Without a total the outline must have a single code at depth 0."""
    jumps = [
        (entry, allowed)
        for before, entry in zip([None, *entries[:-1]], entries, strict=True)
        if entry.depth > (allowed := before.depth + 1 if before else 0)
    ]
    if jumps:
        return None, [
            offenders(
                "SDC312",
                "a code more than one level below the line above it",
                ((e.place, f"`{clip(e.code)}` at level {e.depth + 1}, at most {most + 1} fits") for e, most in jumps),
                len(jumps),
            )
        ]
    tops = [e.code for e in entries if e.depth == 0]
    below = None if total is None or tops == [total] else total  # an outline may begin with the total itself
    return grow(_outlined(entries, below), total=total, name=name, place=place, tops=() if below else tops)


def _outlined(entries: Iterable[Entry], total: str | None) -> Iterator[Branch]:
    above: list[str] = []
    for entry in entries:
        del above[entry.depth :]
        parent = above[-1] if above else total
        if parent is not None:
            yield Branch(parent, entry.code, entry.place)
        above.append(entry.code)
