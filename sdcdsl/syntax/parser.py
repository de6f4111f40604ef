"""Tokens to tree, with recovery: a mistake costs its own line, and one run reports them all.

The automaton is saved at the start of every statement. When a statement cannot go on, the parser says so, skips to the
end of the line, goes back to the saved place and reads the next line. When the broken line opens a block, the block is
entered all the same (by a header the parser puts in), so that its lines are read too.
"""

from __future__ import annotations

from dataclasses import dataclass

from sdcdsl.diagnostics import Diagnostic, Source, Span, diagnostic, nearest
from sdcdsl.syntax import messages
from sdcdsl.syntax.automaton import END, Automaton, Checkpoint
from sdcdsl.syntax.explaining import Stop, explain
from sdcdsl.syntax.grammar import tables
from sdcdsl.syntax.layout import check_layout
from sdcdsl.syntax.lexer import lex
from sdcdsl.syntax.tree import Node, Parsed, Token

EDITIONS = ("1",)
DEEPEST = 200  # nodes inside nodes
MOST_PROBLEMS = 100

_WITH_BLOCK = frozenset({"dimension", "data", "table", "attacker", "scenario", "protect"})


@dataclass
class _Block:
    kind: str
    opened: Token | None
    statement: int = 0  # index of the first token of the statement being read
    saved: Checkpoint | None = None


def parse(source: Source) -> tuple[Parsed, list[Diagnostic]]:
    lexed = lex(source)
    parser = _Parser(source, lexed.tokens)
    tree = parser.run()
    if tree.depth > DEEPEST:
        parser.diagnostics.append(_too_deep(source, tree))
        tree = Node("start", [], 0, 0)
    parsed = Parsed(source, tree, lexed.tokens, lexed.comments, parser.damaged)
    found = lexed.diagnostics + parser.diagnostics + list(check_layout(parsed))
    if _is_something_else(lexed.tokens, parser.diagnostics):
        found = parser.diagnostics[:1]
    if len(found) > MOST_PROBLEMS:
        more = diagnostic("SDC008", f"{len(found) - MOST_PROBLEMS} more problems in {source.name} are not listed")
        found = [*sorted(found, key=_offset)[:MOST_PROBLEMS], more]
    return parsed, found


def _is_something_else(tokens: list[Token], found: list[Diagnostic]) -> bool:
    """No edition, and a first word that starts no statement either: one message is enough."""
    no_edition = bool(found) and found[0].code == "SDC005"
    return no_edition and bool(tokens) and tokens[0].text.casefold() not in messages.USAGE["file"]


def _offset(d: Diagnostic) -> int:
    return d.place.start if isinstance(d.place, Span) else 0


def _too_deep(source: Source, tree: Node) -> Diagnostic:
    node = tree
    while node.depth > DEEPEST // 2:
        node = max((c for c in node.children if isinstance(c, Node)), key=lambda c: c.depth)
    span = Span(source, node.start, min(node.end, node.start + 1))
    return diagnostic(
        "SDC007",
        "this expression is nested too deeply",
        span,
        "too deep",
        help='many alternatives are written as a list: nace in ("45", "46")',
    )


class _Parser:
    def __init__(self, source: Source, tokens: list[Token]):
        self.source = source
        self.tokens = tokens
        self.automaton = Automaton(tables())
        self.diagnostics: list[Diagnostic] = []
        self.damaged: list[tuple[int, int]] = []
        self.blocks: list[_Block] = [_Block("file", None)]
        self.at = 0
        self.python: list[Token] = []  # braces put in for colons, which nothing closes

    # ---- the loop ----------------------------------------------------------------------

    def run(self) -> Node:
        if not self._edition():
            return Node("start", [], 0, 0)
        while self.at < len(self.tokens):
            token = self.tokens[self.at]
            if self._block_left_open(token):
                continue
            if self._take(token):
                self.at += 1
            else:
                self._mistake(token)
        self._close_blocks_at_end()
        root = self.automaton.finish()
        if root is None:
            self._mistake(Token(END, "", len(self.source.text), len(self.source.text)))
            root = self.automaton.finish()
        return root if root is not None else Node("start", [], 0, 0)

    def _take(self, token: Token) -> bool:
        if token.type == "BAD":
            return False
        self.automaton.settle(token)
        if not self.automaton.feed(token):
            return False
        if token.type == "_NL":
            self._begin_statement()
        elif token.type == "LBRACE":
            self.blocks.append(_Block(self._kind_of_block(), token))
            self._begin_statement()
        elif token.type == "RBRACE":
            self.blocks.pop()
        return True

    def _begin_statement(self) -> None:
        self.blocks[-1].statement = self.at + 1
        self.blocks[-1].saved = self.automaton.checkpoint()

    def _kind_of_block(self) -> str:
        first = self.tokens[self.blocks[-1].statement : self.at]
        words = [t.text for t in first[:2]]
        if words and words[0] == "override":
            words = words[1:]
        return words[0] if words and words[0] in _WITH_BLOCK else "options"

    # ---- the edition ---------------------------------------------------------------------

    def _edition(self) -> bool:
        tokens = self.tokens
        if tokens and tokens[0].text == "sdc" and len(tokens) > 1:
            number = tokens[1]
            if number.type == "INT" and number.text not in EDITIONS:
                span = Span(self.source, number.start, number.end)
                self._report(
                    "SDC006",
                    f"this program does not know edition {number.text[:20]} of the language",
                    span,
                    "known: 1",
                    help="a newer release may read it",
                )
                return False
            if number.type == "INT":
                return True
        end = self.source.text.find("\n")
        span = Span(self.source, 0, max(end if end >= 0 else len(self.source.text), 0))
        self._report("SDC005", "the first line must name the edition of the language", span, help="sdc 1")
        for made in (Token("SDC", "sdc", 0, 0), Token("INT", "1", 0, 0), Token("_NL", "\n", 0, 0)):
            self.automaton.feed(made)
        if tokens and tokens[0].text.casefold() == "sdc":
            self.at = self._end_of_line(0) + 1
        self.blocks[-1].statement = self.at
        self.blocks[-1].saved = self.automaton.checkpoint()
        return True

    # ---- mistakes --------------------------------------------------------------------------

    def _mistake(self, token: Token) -> None:
        if self._header_without_brace(token):
            return
        if token.type == "RBRACE" and len(self.blocks) == 1:
            span = Span(self.source, token.start, token.end)
            self._report("SDC015", "there is no open block that this brace could close", span)
        elif token.type != "BAD":
            self._explain(token)
        self._recover(token)

    def _header_without_brace(self, token: Token) -> bool:
        """`attacker external`, and then its lines: say that the brace is missing, and read on as if it were there."""
        block = self.blocks[-1]
        if block.kind != "file" or token.type not in ("_NL", "COLON") or self.automaton.accepted() != {"LBRACE"}:
            return False
        last = self.tokens[self.at - 1]
        line = self._end_of_line(self.at)
        following = self.tokens[line + 1] if line + 1 < len(self.tokens) else None
        if line >= len(self.tokens) or following is None:
            return False
        own_line = following.type == "LBRACE"
        if not own_line and self.source.position(following.start)[1] == 1:
            return False
        span = Span(self.source, last.start, last.end)
        headline = "the brace that opens this block is missing"
        if own_line:
            headline = "the brace stands on the line of its block"
        help = " ".join(t.text for t in self.tokens[block.statement : self.at]) + " {"
        self._report("SDC013", headline, span, "expected `{` after this", help=help)
        if own_line:
            self.at = line + 1
            return True
        brace = Token("LBRACE", "{", last.end, last.end)
        self.tokens[self.at : line + 1] = [brace]
        if token.type == "COLON":  # as in Python: nothing will close it
            self.python.append(brace)
        return True

    def _explain(self, token: Token) -> None:
        block = self.blocks[-1]
        stop = Stop(
            self.source,
            block.kind,
            self.tokens[block.statement : self.at],
            token,
            self.tokens[self.at + 1] if self.at + 1 < len(self.tokens) else None,
            self.automaton.accepted(),
        )
        self.diagnostics.append(explain(stop))

    def _report(self, code: str, headline: str, span: Span, label: str = "", **more) -> None:
        self.diagnostics.append(diagnostic(code, headline, span, label, **more))

    # ---- going on after a mistake ------------------------------------------------------------

    def _recover(self, token: Token) -> None:
        block = self.blocks[-1]
        end = self._end_of_line(self.at)
        start = self.tokens[block.statement].start if block.statement < len(self.tokens) else token.start
        stop = self.tokens[end].start if end < len(self.tokens) else len(self.source.text)
        self.damaged.append((min(start, token.start), max(stop, token.end)))
        closing = self.tokens[end] if end < len(self.tokens) else None
        if closing is not None and end > self.at and self.automaton.accepts(closing.type):
            self.at = end  # the statement was complete: only what follows it is lost
            return
        if block.saved is not None:
            self.automaton.restore(block.saved)
        if closing is not None and closing.type == "_NL" and self._awaits_rows(block):
            end = self._end_of_rows(start, end)
            closing = self.tokens[end] if end < len(self.tokens) else None
            self.damaged.append((start, closing.start if closing else len(self.source.text)))
        if closing is None:
            self.at = len(self.tokens)
        elif closing.type == "LBRACE":
            self._enter_block(block, end)
        elif closing.type == "_NL" or len(self.blocks) == 1:
            self.at = end + 1
            if closing.type == "RBRACE" and self.at < len(self.tokens) and self.tokens[self.at].type == "_NL":
                self.at += 1
            block.statement = self.at
        else:  # a closing brace: let it close
            self.at = end
            block.statement = end

    def _awaits_rows(self, block: _Block) -> bool:
        words = [t.text for t in self.tokens[block.statement : self.at]]
        return words in (["values"], ["hierarchy", "tree"])

    def _end_of_rows(self, start: int, end: int) -> int:
        """Lines indented deeper than the statement were meant as its rows."""
        column = self.source.position(start)[1]
        while end + 1 < len(self.tokens) and self.tokens[end].type == "_NL":
            first = self.tokens[end + 1]
            deeper = self.tokens[end].text == ";" or self.source.position(first.start)[1] > column
            if not deeper or first.type == "RBRACE":
                break
            end = self._end_of_line(end + 1)
        return end

    def _end_of_line(self, at: int) -> int:
        while at < len(self.tokens) and self.tokens[at].type not in ("_NL", "LBRACE", "RBRACE"):
            at += 1
        return at

    def _enter_block(self, block: _Block, brace: int) -> None:
        """Feed the header that was probably meant, or skip the block where nobody can tell."""
        header = self._likely_header(block, self.tokens[block.statement : brace])
        for token in header:
            if not self.automaton.feed(token):
                header = []
                break
        if header and self.automaton.accepts("LBRACE"):
            self.at = brace
            return
        if block.saved is not None:
            self.automaton.restore(block.saved)
        depth = 0
        self.at = brace
        while self.at < len(self.tokens):
            depth += {"LBRACE": 1, "RBRACE": -1}.get(self.tokens[self.at].type, 0)
            self.at += 1
            if depth == 0:
                break
        self.damaged.append((self.tokens[brace].start, self.tokens[self.at - 1].end))
        if self.at < len(self.tokens) and self.tokens[self.at].type == "_NL":
            self.at += 1
        block.statement = self.at

    def _likely_header(self, block: _Block, line: list[Token]) -> list[Token]:
        if not line:
            return []
        words = list(messages.USAGE[block.kind])
        first = line[0].text if line[0].text in words else nearest(line[0].text, [w for w in words if w])
        overriding = first == "override"
        if overriding and len(line) > 1:
            line = line[1:]
            first = nearest(line[0].text, _WITH_BLOCK)
        if first not in _WITH_BLOCK | {"method"}:
            return []
        line[0].text = first
        name = line[1].text if len(line) > 1 and line[1].text.isidentifier() else ""
        at = line[0].start
        made = [Token(first.upper(), first, at, line[0].end), Token("NAME", name, at, line[0].end)]
        return [Token("OVERRIDE", "override", at, at), *made] if overriding else made

    # ---- braces ----------------------------------------------------------------------------------

    def _block_left_open(self, token: Token) -> bool:
        """A word that only starts top-level statements, at the left margin, inside a block: the brace was forgotten."""
        block = self.blocks[-1]
        if block.opened is None or self.at != block.statement or token.text not in messages.USAGE["file"]:
            return False
        if self.source.position(token.start)[1] != 1:
            return False
        if not any(block.opened is brace for brace in self.python):
            self._report_open(block, Span(self.source, token.start, token.end))
        self._close_all(token.start)
        self.automaton.feed(Token("_NL", "\n", token.start, token.start))
        self.blocks[-1].statement = self.at
        self.blocks[-1].saved = self.automaton.checkpoint()
        return True

    def _close_blocks_at_end(self) -> None:
        if len(self.blocks) > 1:
            if not any(self.blocks[-1].opened is brace for brace in self.python):
                self._report_open(self.blocks[-1], None)
            self._close_all(len(self.source.text))

    def _close_all(self, at: int) -> None:
        while len(self.blocks) > 1:
            block = self.blocks.pop()
            brace = Token("RBRACE", "}", at, at)
            if not self.automaton.feed(brace) and block.saved is not None:
                self.automaton.restore(block.saved)
                self.automaton.feed(brace)

    def _report_open(self, block: _Block, next_statement: Span | None) -> None:
        opened = block.opened
        assert opened is not None
        span = Span(self.source, opened.start, opened.end)
        d = diagnostic("SDC014", "this block is never closed", span, "opened here", help="close it with `}`")
        self.diagnostics.append(d.mark(next_statement, "the next statement starts here") if next_statement else d)
        self.damaged.append((opened.start, opened.end))
