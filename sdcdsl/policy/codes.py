"""The codes of a dimension, as far as the policy itself spells them out."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import wraps
from typing import TypeVar

from sdcdsl.policy import document as d

_T = TypeVar("_T")


def _once_a_block(work: Callable[[d.Block], _T]) -> Callable[[d.Block], _T]:
    """Every cell of a table requires the codes of its dimensions. A block never changes, so its answer is kept while it
    lives; by identity, because comparing two blocks takes as long as the work."""
    kept: dict[int, tuple[weakref.ref[d.Block], _T]] = {}

    @wraps(work)
    def codes_of(block: d.Block) -> _T:
        key = id(block)
        if key not in kept:
            kept[key] = weakref.ref(block, lambda _: kept.pop(key, None)), work(block)
        return kept[key][1]

    return codes_of


@_once_a_block
def known_codes(dimension: d.Block) -> frozenset[str] | None:
    """All codes, or None if a file brings some of them."""
    if dimension.all(d.HierarchyFile) or dimension.all(d.HierarchyPrefix):
        return None
    codes: set[str] = set()
    for statement in dimension.statements:
        match statement:
            case d.Codes(listed):
                codes.update(c.text for c in listed)
            case d.Total(code):
                codes.add(code.text)
            case d.HierarchySum(total, parts):
                codes.add(total.text)
                codes.update(c.text for _, c in parts)
            case d.HierarchyTree(nodes):
                codes.update(c.text for _, c in nodes)
            case _:
                pass
    return frozenset(codes)


@dataclass
class InlineTree:
    """One inline hierarchy: what adds up to what."""

    name: str | None
    # total -> (sign, part); (total, part) -> who said so
    parts: dict[str, list[tuple[int, str]]] = field(default_factory=dict[str, list[tuple[int, str]]])
    origin: dict[tuple[str, str], d.Statement] = field(default_factory=dict[tuple[str, str], d.Statement])

    def add(self, total: str, sign: int, part: str, statement: d.Statement) -> None:
        self.parts.setdefault(total, []).append((sign, part))
        self.origin[total, part] = statement

    def roots(self) -> list[str]:
        inside = {part for parts in self.parts.values() for _, part in parts}
        return [total for total in self.parts if total not in inside]


@_once_a_block
def inline_trees(dimension: d.Block) -> list[InlineTree]:
    """The hierarchies spelled out in the policy, by name; `codes` hang under `total` where nothing else is said."""
    trees: dict[str | None, InlineTree] = {}
    for statement in dimension.statements:
        if isinstance(statement, d.HierarchySum):
            tree = trees.setdefault(statement.name, InlineTree(statement.name))
            for sign, part in statement.parts:
                tree.add(statement.total.text, sign, part.text, statement)
        elif isinstance(statement, d.HierarchyTree):
            tree = trees.setdefault(statement.name, InlineTree(statement.name))
            above: list[str] = []
            for depth, code in statement.nodes:
                del above[depth:]
                if above:
                    tree.add(above[-1], 1, code.text, statement)
                above.append(code.text)
    total = dimension.last(d.Total)
    first = next(iter(trees.values()), None)
    if total is not None and not dimension.all(d.HierarchyFile) and not dimension.all(d.HierarchyPrefix):
        tree = first or trees.setdefault(None, InlineTree(None))
        inside = {part for parts in tree.parts.values() for _, part in parts}
        # In order, each once: a code that is listed twice is still one part.
        loose = dict.fromkeys(c.text for s in dimension.all(d.Codes) for c in s.codes)
        loose.update(dict.fromkeys(tree.roots()))
        for code in loose:
            if code not in inside and code != total.code.text:
                tree.add(total.code.text, 1, code, total)
    return list(trees.values())
