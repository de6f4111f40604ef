"""What the parser makes: tokens and nodes, each with its exact place in the text."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field

from sdcdsl.diagnostics import Source, Span


class Token:
    """A terminal. The parser settles `type`: the same word is a keyword in one place and a name in another."""

    __slots__ = ("end", "start", "text", "type")

    depth = 0

    def __init__(self, type: str, text: str, start: int, end: int):
        self.type = type
        self.text = text
        self.start = start
        self.end = end

    def __repr__(self) -> str:
        return f"{self.type}({self.text!r})"


class Node:
    """A rule of the grammar at work; keywords and punctuation are covered by the span but are not children."""

    __slots__ = ("children", "depth", "end", "kind", "start")

    def __init__(self, kind: str, children: list[Node | Token], start: int, end: int):
        self.kind = kind
        self.children = children
        self.start = start
        self.end = end
        depth = 0
        for child in children:
            if child.depth > depth:
                depth = child.depth
        self.depth = depth + 1

    def nodes(self, *kinds: str) -> Iterator[Node]:
        return (c for c in self.children if isinstance(c, Node) and (not kinds or c.kind in kinds))

    def node(self, *kinds: str) -> Node | None:
        return next(self.nodes(*kinds), None)

    def tokens(self, *types: str) -> Iterator[Token]:
        return (c for c in self.children if isinstance(c, Token) and (not types or c.type in types))

    def token(self, *types: str) -> Token | None:
        return next(self.tokens(*types), None)

    def __repr__(self) -> str:
        return f"{self.kind}({', '.join(map(repr, self.children))})"


@dataclass(frozen=True, slots=True)
class Comment:
    text: str
    start: int
    end: int
    own_line: bool


class _Stretches:
    """Stretches of text in order, those that overlap made one, so that a question is a search."""

    __slots__ = ("ends", "size", "starts")

    def __init__(self, stretches: list[tuple[int, int]]):
        self.merge(stretches)

    def merge(self, stretches: list[tuple[int, int]]) -> None:
        self.size = len(stretches)
        self.starts: list[int] = []
        self.ends: list[int] = []
        for start, end in sorted(stretches):
            if self.ends and start < self.ends[-1]:
                self.ends[-1] = max(self.ends[-1], end)
            else:
                self.starts.append(start)
                self.ends.append(end)

    def touch(self, start: int, end: int) -> bool:
        last = bisect_left(self.starts, end) - 1  # the last one that begins before the end
        return last >= 0 and start < self.ends[last]


@dataclass(frozen=True)
class Parsed:
    """A file as far as it could be read. `damaged` are the stretches that could not: nobody knows what they say."""

    source: Source
    tree: Node
    tokens: list[Token]
    comments: list[Comment]
    damaged: list[tuple[int, int]] = field(default_factory=list)
    _merged: _Stretches = field(default_factory=lambda: _Stretches([]), init=False, compare=False, repr=False)

    def span(self, item: Node | Token) -> Span:
        return Span(self.source, item.start, item.end)

    def is_damaged(self, start: int, end: int) -> bool:
        """Does some damage lie between these two places? Asked for every token, so that it must not walk the list."""
        if self._merged.size != len(self.damaged):
            self._merged.merge(self.damaged)
        return self._merged.touch(start, end)


def outline(parsed: Parsed) -> str:
    """The tree as indented text, with line:column of every item (`sdcdsl show --stage tree`)."""
    lines: list[str] = []

    def walk(item: Node | Token, depth: int) -> None:
        line, column = parsed.source.position(item.start)
        what = item.kind if isinstance(item, Node) else f"{item.type} {item.text}"
        lines.append(f"{'  ' * depth}{what}  [{line}:{column}]")
        if isinstance(item, Node):
            for child in item.children:
                walk(child, depth + 1)

    walk(parsed.tree, 0)
    return "\n".join(lines) + "\n"
