"""The canonical form: one layout, no options.

Only white space changes: the formatter prints the very tokens it read, so the meaning cannot change. Statements go one
to a line, blocks are indented by two spaces, tables are aligned, long lists are folded at their commas, comments stay
where they are, and blank lines are kept (one at a time) and put around blocks.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from sdcdsl.diagnostics.render.text import width
from sdcdsl.syntax.layout import cells_of, depths_of, is_rule
from sdcdsl.syntax.tree import Comment, Node, Parsed, Token

WIDTH = 100
_OPERANDS = frozenset({"NAME", "INT", "NUMBER", "PERCENT", "STRING", "RPAR", "INF", "DATE", "DURATION"})


@dataclass
class _Line:
    text: str
    depth: int
    comment: bool = False
    blank_before: bool = False
    opens: bool = False  # the first line of a block
    closes: bool = False  # the last line of a block
    trail: str = ""  # the comment behind it


def format_text(parsed: Parsed) -> str:
    """The canonical text of a file without syntax errors."""
    lines = _Formatter(parsed).run()
    _space_out(lines)
    _align_trails(lines)
    out = []
    for i, line in enumerate(lines):
        if line.blank_before and i > 0:
            out.append("")
        out.append(line.text)
    return "\n".join(out) + "\n"


class _Formatter:
    def __init__(self, parsed: Parsed):
        self.parsed = parsed
        self.text = parsed.source.text
        self.lines: list[_Line] = []
        self.depth = 0
        self.pending: list[Token] = []  # the line being put together
        self.goes_on = False  # it is not the first line of its statement
        self.comments = list(reversed(parsed.comments))
        self.last_end = 0  # where in the source the last printed thing ended

    def run(self) -> list[_Line]:
        tokens = self.parsed.tokens
        at = 0
        while at < len(tokens):
            token = tokens[at]
            self._comments_before(token)
            if token.type == "_NL":
                self._end_statement()
            elif token.type == "ROW":
                at = self._matrix(tokens, at)
                continue
            elif token.type == "BULLET":
                at = self._tree(tokens, at)
                continue
            elif token.type == "LBRACE":
                self.pending.append(token)
                empty = self._closing_brace_of_empty(tokens, at)
                if empty:
                    self.pending.append(tokens[empty])
                    at = empty
                else:
                    self._end_statement(opens=True)
                    self.depth += 1
            elif token.type == "RBRACE":
                self._end_statement()
                self.depth -= 1
                self.pending.append(token)
                if at + 1 == len(tokens) or tokens[at + 1].type in ("_NL", "RBRACE"):
                    self._end_statement()
            else:
                self.pending.append(token)
            at += 1
        self._end_statement()
        while self.comments:
            self._comment(self.comments.pop(), 0)
        return self.lines

    # ---- statements --------------------------------------------------------------------

    def _closing_brace_of_empty(self, tokens: list[Token], at: int) -> int:
        """The index of the brace that closes a block with nothing in it, not even a comment; else 0."""
        end = at + 2 if at + 1 < len(tokens) and tokens[at + 1].type == "_NL" else at + 1
        if end >= len(tokens) or tokens[end].type != "RBRACE":
            return 0
        return 0 if self.comments and self.comments[-1].start < tokens[end].start else end

    def _end_statement(self, opens: bool = False) -> None:
        self._flush(opens)
        self.goes_on = False

    def _flush(self, opens: bool = False) -> None:
        if not self.pending:
            return
        first, last = self.pending[0], self.pending[-1]
        folded = _fold(self.pending, self._indent(), starts=not self.goes_on)
        for i, text in enumerate(folded):
            line = _Line(text, self.depth, opens=opens and i == 0)
            line.closes = last.type == "RBRACE" and i == len(folded) - 1
            line.blank_before = i == 0 and self._blank_above(first.start)
            self.lines.append(line)
        self.last_end = last.end
        self.pending = []
        self.goes_on = True

    def _indent(self) -> int:
        return 2 * self.depth + (4 if self.goes_on else 0)

    def _blank_above(self, start: int) -> bool:
        return self.text.count("\n", self.last_end, start) > 1

    # ---- comments ----------------------------------------------------------------------

    def _comments_before(self, token: Token) -> None:
        """A comment inside a statement ends its line; what follows goes on below, where newlines are free anyway."""
        rows = token.type in ("ROW", "BULLET")
        while self.comments and self.comments[-1].start < token.start:
            comment = self.comments.pop()
            self._flush()
            if comment.own_line or not self.lines:
                self._comment(comment, 2 * self.depth + 2 if rows else self._indent())
            else:
                self.lines[-1].trail = comment.text
                self.last_end = comment.end

    def _comment(self, comment: Comment, indent: int) -> None:
        line = _Line(" " * indent + comment.text, self.depth, comment=True)
        line.blank_before = self._blank_above(comment.start)
        self.lines.append(line)
        self.last_end = comment.end

    # ---- rows and bullets ----------------------------------------------------------------

    def _matrix(self, tokens: list[Token], at: int) -> int:
        self._flush()
        end = at
        while end < len(tokens) and tokens[end].type == "ROW":
            end += 1
        for token, text in zip(tokens[at:end], align(tokens[at:end]), strict=True):
            self._comments_before(token)
            self.lines.append(_Line("  " * (self.depth + 1) + text, self.depth + 1))
            self.last_end = token.end
        return end

    def _tree(self, tokens: list[Token], at: int) -> int:
        self._flush()
        end = at
        while end < len(tokens) and tokens[end].type == "BULLET":
            end += 2
        bullets = Node("hierarchy_tree", list(tokens[at:end]), tokens[at].start, tokens[end - 1].end)
        for i, depth in enumerate(depths_of(bullets, self.parsed.source)):
            self._comments_before(tokens[at + 2 * i])
            text = f"- {tokens[at + 2 * i + 1].text}"
            self.lines.append(_Line("  " * (self.depth + 1 + max(depth, 0)) + text, self.depth + 1))
            self.last_end = tokens[at + 2 * i + 1].end
        return end


def align(rows: list[Token]) -> list[str]:
    """Rows of one table under each other: texts to the left, numbers to the right."""
    table = [cells_of(row) for row in rows]
    columns = max(map(len, table))
    body = [cells for i, cells in enumerate(table) if i > 0 and not is_rule(cells)]
    widths, right = [], []
    for j in range(columns):
        widths.append(
            max((width(cells[j].text) for cells in table if j < len(cells) and not is_rule(cells)), default=1)
        )
        right.append(bool(body) and all(_numeric(cells[j].text) for cells in body if j < len(cells)))
    out = []
    for cells in table:
        parts = []
        for j, cell in enumerate(cells):
            space = " " * (widths[j] - width(cell.text))
            if is_rule(cells):
                parts.append("-" * max(widths[j], 1))
            else:
                parts.append(space + cell.text if right[j] else cell.text + space)
        out.append("| " + " | ".join(parts) + " |")
    return out


def _numeric(text: str) -> bool:
    return not text or text[0] in "-+.0123456789"


def _fold(tokens: list[Token], indent: int, starts: bool) -> list[str]:
    """The tokens as lines of at most WIDTH columns where there is a comma to fold at."""
    lines: list[str] = []
    line = " " * indent
    for text, can_break in _spaced(tokens, starts):
        if not line.strip():
            line += text.lstrip()
        elif can_break and width(line) + width(text) > WIDTH:
            lines.append(line.rstrip())
            line = " " * (indent + 4) + text.lstrip()
        else:
            line += text
    lines.append(line.rstrip())
    return lines


def _spaced(tokens: list[Token], starts: bool) -> list[tuple[str, bool]]:
    """Each token with the space before it, and whether a line may break there; `starts` with their statement."""
    out: list[tuple[str, bool]] = []
    unary = False
    for i, token in enumerate(tokens):
        before = tokens[i - 1] if i else None
        text = re.sub(r"[ \t]*([a-z]+)$", r" \1", token.text) if token.type == "DURATION" else token.text
        close = before is None or unary or before.type == "LPAR" or token.type in ("RPAR", "COMMA", "COLON", "RBRACE")
        if token.type == "LPAR" and before is not None and before.type in ("NAME", "LARGEST"):
            close = True
        # The name of an option is not something to subtract from.
        operand = before is not None and before.type in _OPERANDS and not (starts and i == 1 and before.type == "NAME")
        unary = token.type == "MINUS" and not operand
        out.append((text if close else f" {text}", before is not None and before.type == "COMMA"))
    return _glued(out)


def _glued(pieces: list[tuple[str, bool]]) -> list[tuple[str, bool]]:
    """Pieces between two possible breaks, joined."""
    out: list[tuple[str, bool]] = []
    for text, can_break in pieces:
        if out and not can_break:
            out[-1] = (out[-1][0] + text, out[-1][1])
        else:
            out.append((text, can_break))
    return out


def _align_trails(lines: list[_Line]) -> None:
    """Comments behind neighbouring lines stand under each other."""
    start = 0
    while start < len(lines):
        end = start
        while end < len(lines) and lines[end].trail and (end == start or not lines[end].blank_before):
            end += 1
        column = max((width(line.text) for line in lines[start:end]), default=0)
        for line in lines[start:end]:
            line.text += " " * (column - width(line.text) + 2) + line.trail
        start = max(end, start + 1)


def _space_out(lines: list[_Line]) -> None:
    """One blank line around top-level blocks, none just inside a block."""
    for i, line in enumerate(lines):
        previous = lines[i - 1] if i else None
        if previous is not None and previous.depth < line.depth and not previous.comment:
            line.blank_before = False
        if line.closes and not line.opens and previous is not None:
            line.blank_before = False
        if previous is not None and previous.closes and previous.depth == 0 and line.depth == 0:
            line.blank_before = True
        if line.opens and line.depth == 0 and not line.text.startswith("}"):
            start = i
            while start > 0 and lines[start - 1].comment and not lines[start].blank_before:
                start -= 1
            lines[start].blank_before = True
