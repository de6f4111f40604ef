"""The two things whose layout carries meaning: rows of an inline table, and the indentation of an inline tree."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from sdcdsl.diagnostics import Diagnostic, Source, Span, diagnostic
from sdcdsl.syntax.tree import Node, Parsed, Token

_CELL = re.compile(r'(?:"(?:[^"]|"")*"|[^"|])*')
_RULE = re.compile(r":?-+:?")


@dataclass(frozen=True, slots=True)
class Cell:
    text: str
    start: int
    end: int


def cells_of(row: Token) -> list[Cell]:
    """`| a | b |` → a, b, each with its place."""
    out: list[Cell] = []
    at = 1
    while at <= len(row.text):
        match = _CELL.match(row.text, at)
        assert match is not None
        inside = match.group()
        text = inside.strip()
        if text or match.end() < len(row.text):
            lead = len(inside) - len(inside.lstrip()) if text else 0
            start = row.start + at + lead
            out.append(Cell(text, start, start + max(len(text), 1)))
        at = match.end() + 1
    return out


def is_rule(cells: list[Cell]) -> bool:
    """The line of dashes that Markdown draws under a header."""
    return bool(cells) and all(_RULE.fullmatch(c.text) for c in cells)


def depths_of(tree: Node, source: Source) -> list[int]:
    """How deep each bullet of an inline tree lies, from its column; -1 where the indentation fits no line above it."""
    columns: list[int] = []
    depths: list[int] = []
    for bullet in tree.tokens("BULLET"):
        column = source.position(bullet.start)[1]
        while columns and columns[-1] > column:
            columns.pop()
        if not columns or columns[-1] < column:
            fits = not depths or column > _column_above(tree, source, len(depths))
            columns.append(column)
            if not fits:
                depths.append(-1)
                continue
        depths.append(len(columns) - 1)
    return depths


def _column_above(tree: Node, source: Source, index: int) -> int:
    bullets = list(tree.tokens("BULLET"))
    return source.position(bullets[index - 1].start)[1]


def check_layout(parsed: Parsed) -> Iterator[Diagnostic]:
    for block in parsed.tree.nodes():
        inner = block.node("table", "dimension") if block.kind == "override" else block
        if inner is None:
            continue
        for values in inner.nodes("values"):
            yield from _check_rows(values, parsed)
        for tree in inner.nodes("hierarchy_tree"):
            yield from _check_tree(tree, parsed)


def _check_rows(values: Node, parsed: Parsed) -> Iterator[Diagnostic]:
    rows = list(values.tokens("ROW"))
    width = len(cells_of(rows[0]))
    for row in rows[1:]:
        cells = cells_of(row)
        if len(cells) != width:
            yield diagnostic(
                "SDC022",
                f"this row has {len(cells)} columns, the header has {width}",
                parsed.span(row),
                help="every row has one cell for each column of the header",
            ).mark(parsed.span(rows[0]), "the header")


def _check_tree(tree: Node, parsed: Parsed) -> Iterator[Diagnostic]:
    for bullet, depth in zip(tree.tokens("BULLET"), depths_of(tree, parsed.source), strict=True):
        if depth < 0:
            yield diagnostic(
                "SDC024",
                "this line is indented like no line above it",
                Span(parsed.source, bullet.start, bullet.start + 1),
                help="the parts of a code stand below it, indented alike",
            )
