"""The two things whose layout carries meaning: rows of an inline table, and the indentation of an inline tree."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from sdcdsl.diagnostics import Diagnostic, Source, Span, diagnostic
from sdcdsl.syntax.tree import Node, Parsed, Token

# Runs are taken whole (`++`): a row of a megabyte costs neither a stack frame a character nor a second look.
_CELL = re.compile(r'(?:"(?:[^"]++|"")*"|[^"|]++)*')
_RULE = re.compile(r":?-+:?")


@dataclass(frozen=True, slots=True)
class InlineCellText:
    text: str
    start: int
    end: int


def cells_of(row: Token) -> list[InlineCellText]:
    """`| a | b |` → a, b, each with its place."""
    out: list[InlineCellText] = []
    at = row.start + 1
    pieces = _pieces(row.text) if '"' in row.text else row.text[1:].split("|")
    last = len(pieces) - 1
    for index, piece in enumerate(pieces):
        text = piece.strip()
        if text:
            start = at + piece.index(text)
            out.append(InlineCellText(text, start, start + len(text)))
        elif index < last:
            out.append(InlineCellText("", at, at + 1))
        at += len(piece) + 1
    return out


def _pieces(row: str) -> list[str]:
    """What stands between the bars; a bar inside quotes is none."""
    out: list[str] = []
    at = 1
    while at <= len(row):
        match = _CELL.match(row, at)
        assert match is not None
        out.append(match.group())
        at = match.end() + 1
    return out


def is_rule(cells: list[InlineCellText]) -> bool:
    """The line of dashes that Markdown draws under a header."""
    return bool(cells) and all(_RULE.fullmatch(c.text) for c in cells)


def depths_of(tree: Node, source: Source) -> list[int]:
    """How deep each bullet of an inline tree lies, from its column; -1 where the indentation fits no line above it."""
    columns: list[int] = []
    depths: list[int] = []
    above = 0
    for bullet in tree.tokens("BULLET"):
        column = source.position(bullet.start)[1]
        while columns and columns[-1] > column:
            columns.pop()
        fits = True
        if not columns or columns[-1] < column:
            fits = column > above
            columns.append(column)
        depths.append(len(columns) - 1 if fits else -1)
        above = column
    return depths


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
    rows = values.tokens("ROW")
    first = header = next(rows)
    cells = cells_of(header)
    while is_rule(cells) and (below := next(rows, None)) is not None:
        header, cells = below, cells_of(below)
    if not cells or is_rule(cells):
        help = "the first row names the columns: | region | value |"
        yield diagnostic("SDC022", "the table has no header", parsed.span(first), help=help)
        return
    width = len(cells)
    for row in rows:
        cells = cells_of(row)
        if len(cells) != width:
            yield diagnostic(
                "SDC022",
                f"this row has {len(cells)} columns, the header has {width}",
                parsed.span(row),
                help="every row has one cell for each column of the header",
            ).mark(parsed.span(header), "the header")


def _check_tree(tree: Node, parsed: Parsed) -> Iterator[Diagnostic]:
    odd = _other_indent(tree, parsed.source)
    if odd is not None:
        yield diagnostic(
            "SDC024",
            "tabs and spaces are mixed in the indentation of this tree",
            Span(parsed.source, odd.start, odd.start + 1),
            "indented otherwise than the lines above",
            notes=["a tab is as wide as the reader's editor makes it: nobody can tell what is below what"],
            help="indent all lines of a tree with spaces",
        )
        return
    for bullet, depth in zip(tree.tokens("BULLET"), depths_of(tree, parsed.source), strict=True):
        if depth < 0:
            yield diagnostic(
                "SDC024",
                "this line is indented like no line above it",
                Span(parsed.source, bullet.start, bullet.start + 1),
                help="the parts of a code stand below it, indented alike",
            )


def _other_indent(tree: Node, source: Source) -> Token | None:
    """The first bullet after which the tree is indented with tabs and with spaces."""
    used: set[str] = set()
    for bullet in tree.tokens("BULLET"):
        line = source.position(bullet.start)[0]
        used.update(source.text[source.line_starts[line - 1] : bullet.start])
        if {" ", "\t"} <= used:
            return bullet
    return None
