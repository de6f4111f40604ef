"""Tokens to tree, with recovery: a mistake costs its own line, and one run reports them all.

The automaton is saved at the start of every statement. When a statement cannot go on, the parser says so, skips to the
end of the line, goes back to the saved place and reads the next line. When the broken line opens a block, the block is
entered all the same (by a header the parser puts in), so that its lines are read too.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice, pairwise

from sdcdsl.diagnostics import Diagnostic, Source, Span, diagnostic
from sdcdsl.diagnostics.diagnostic import MOST_PROBLEMS, not_listed
from sdcdsl.diagnostics.suggest import renew_effort
from sdcdsl.syntax import messages
from sdcdsl.syntax.automaton import END, Automaton, Checkpoint
from sdcdsl.syntax.explaining import (
    WITH_BLOCK,
    Stop,
    explain,
    is_something_else,
    likely_header,
    nested_at,
    too_deep,
)
from sdcdsl.syntax.grammar import tables
from sdcdsl.syntax.layout import check_layout
from sdcdsl.syntax.lexer import lex
from sdcdsl.syntax.tree import Node, Parsed, Token

EDITIONS = ("1",)
DEEPEST = 200  # nodes inside nodes
DEEPEST_STACK = 10 * DEEPEST  # what the automaton may have open: no statement that is not too deep comes near it

_LAYOUT = frozenset({"_NL", "LBRACE", "RBRACE"})


@dataclass
class _Block:
    kind: str
    opened: Token | None
    statement: int = 0  # index of the first token of the statement being read
    saved: Checkpoint | None = None


def parse(source: Source) -> tuple[Parsed, list[Diagnostic]]:
    renew_effort()
    lexed = lex(source)
    parser = _Parser(source, lexed.tokens)
    tree = parser.run()
    if tree.depth > DEEPEST:
        parser.diagnostics.append(too_deep(source, tree, DEEPEST))
        tree = Node("start", [], 0, 0)
    parsed = Parsed(source, tree, lexed.tokens, lexed.comments, parser.damaged)
    if is_something_else(lexed.tokens, parser.diagnostics):
        return parsed, parser.diagnostics[:1]
    layout = check_layout(parsed)
    found = lexed.diagnostics + parser.diagnostics + list(islice(layout, MOST_PROBLEMS))
    unlisted = parser.unsaid + sum(1 for _ in layout)
    if len(found) + unlisted > MOST_PROBLEMS:
        found.sort(key=_offset)
        unlisted += max(0, len(found) - MOST_PROBLEMS)
        found = [*found[:MOST_PROBLEMS], not_listed(source.name, unlisted)]
    return parsed, found


@dataclass(frozen=True)
class Ahead:
    """What may follow a text that is still being written."""

    blocks: tuple[tuple[str, tuple[Token, ...]], ...]  # each open block, outermost first: its kind, what opened it
    statement: tuple[Token, ...]  # what is there of the statement at the end
    accepted: frozenset[str]  # terminals that fit


def ahead(source: Source) -> Ahead:
    """For the end of a text: where the cursor is, if the text is what stands before it."""
    tokens = lex(source).tokens
    if tokens and tokens[-1].type == "BAD" and not tokens[-1].text:
        tokens.pop()  # a parenthesis that is still open
    return _Parser(source, tokens).ahead()


def _place(tokens: list[Token], token: Token | None) -> int:
    return next((i for i, t in enumerate(tokens) if t is token), len(tokens))


def _offset(d: Diagnostic) -> int:
    return d.place.start if isinstance(d.place, Span) else 0


class _Parser:
    def __init__(self, source: Source, tokens: list[Token]):
        self.source = source
        self.tokens = tokens
        self.automaton = Automaton(tables())
        self.diagnostics: list[Diagnostic] = []
        self.unsaid = 0  # problems that are counted only
        self.damaged: list[tuple[int, int]] = []
        self.blocks: list[_Block] = [_Block("file", None)]
        self.at = 0
        self.python: set[int] = set()  # starts of braces put in for colons, which nothing closes

    # ---- the loop ----------------------------------------------------------------------

    def run(self) -> Node:
        if not self._edition():
            return Node("start", [], 0, 0)
        self._read()
        self._close_blocks_at_end()
        root = self.automaton.finish()
        if root is None:
            self._mistake(Token(END, "", len(self.source.text), len(self.source.text)))
            root = self.automaton.finish()
        return root if root is not None else Node("start", [], 0, 0)

    def ahead(self) -> Ahead:
        if not self._edition():
            return Ahead((), (), frozenset())
        self._read()
        opened = [
            tuple(self.tokens[b.statement : _place(self.tokens, inner.opened)]) for b, inner in pairwise(self.blocks)
        ]
        kinds = [block.kind for block in self.blocks[1:]]
        statement = tuple(self.tokens[self.blocks[-1].statement :])
        return Ahead(tuple(zip(kinds, opened, strict=True)), statement, self.automaton.accepted())

    def _read(self) -> None:
        tokens = self.tokens
        while self.at < len(tokens):
            token = tokens[self.at]
            block = self.blocks[-1]
            if self.at == block.statement and block.opened is not None and self._block_left_open(block, token):
                continue
            if self._take(token):
                self.at += 1
            else:
                self._mistake(token)

    def _take(self, token: Token) -> bool:
        if token.type == "BAD" or self._too_deep():
            return False
        self.automaton.settle(token)
        if not self.automaton.feed(token):
            return False
        if token.type not in _LAYOUT:
            return True
        if token.type == "_NL":
            self._begin_statement()
        elif token.type == "LBRACE":
            self.blocks.append(_Block(self._kind_of_block(), token))
            self._begin_statement()
        else:
            self.blocks.pop()
        return True

    def _too_deep(self) -> bool:
        return len(self.automaton.states) > DEEPEST_STACK

    def _begin_statement(self) -> None:
        self.blocks[-1].statement = self.at + 1
        self.blocks[-1].saved = self.automaton.checkpoint()

    def _kind_of_block(self) -> str:
        start = self.blocks[-1].statement
        words = [t.text for t in self.tokens[start : min(self.at, start + 2)]]
        if words and words[0] == "override":
            words = words[1:]
        return words[0] if words and words[0] in WITH_BLOCK | {"recode"} else "options"

    # ---- the edition ---------------------------------------------------------------------

    def _edition(self) -> bool:
        tokens = self.tokens
        if tokens and tokens[0].text == "sdc" and len(tokens) > 1:
            number = tokens[1]
            if number.type == "INT" and number.text not in EDITIONS:
                span = Span(self.source, number.start, number.end)
                headline = f"this program does not know edition {number.text[:20]} of the language"
                self._report("SDC006", headline, span, "known: 1", help="a newer release may read it")
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
        if self._too_deep():
            self._add(nested_at(self.source, token.start, token.end))
        elif token.type == "RBRACE" and len(self.blocks) == 1:
            span = Span(self.source, token.start, token.end)
            self._report("SDC015", "there is no open block that this brace could close", span)
        elif token.type != "BAD":
            self._explain(token)
        self._recover(token)

    def _header_without_brace(self, token: Token) -> bool:
        """`attacker external`, and then its lines: say that the brace is missing, and read on as if it were there."""
        block = self.blocks[-1]
        if block.kind != "file" or token.type not in ("_NL", "COLON") or "LBRACE" not in self.automaton.accepted():
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
        headline = (
            "the brace stands on the line of its block" if own_line else "the brace that opens this block is missing"
        )
        header = self.tokens[block.statement : self.at][:40]
        help = " ".join(self.source.text[header[0].start : header[-1].end].split()) + " {"
        self._report("SDC013", headline, span, "expected `{` after this", help=help)
        if own_line:
            self.at = line + 1
            return True
        brace = Token("LBRACE", "{", last.end, last.end)
        self.tokens[line] = brace  # in its place: a list of a million tokens is not moved for each header
        self.at = line
        if token.type == "COLON":  # as in Python: nothing will close it
            self.python.add(brace.start)
        return True

    def _explain(self, token: Token) -> None:
        if self._full():
            return
        block = self.blocks[-1]
        stop = Stop(
            self.source,
            block.kind,
            self.tokens[block.statement : self.at],
            token,
            self.tokens[self.at + 1] if self.at + 1 < len(self.tokens) else None,
            self.automaton.accepted(),
        )
        self._add(explain(stop))

    def _full(self) -> bool:
        """Enough has been said: one more is counted, and nobody looks for words."""
        full = len(self.diagnostics) >= MOST_PROBLEMS
        self.unsaid += full
        return full

    def _add(self, d: Diagnostic) -> None:
        if not self._full():
            self.diagnostics.append(d)

    def _report(self, code: str, headline: str, span: Span, label: str = "", **more) -> None:
        self._add(diagnostic(code, headline, span, label, **more))

    # ---- going on after a mistake ------------------------------------------------------------

    def _recover(self, token: Token) -> None:
        block = self.blocks[-1]
        end = self._end_of_line(self.at)
        start = self.tokens[block.statement].start if block.statement < len(self.tokens) else token.start
        stop = self.tokens[end].start if end < len(self.tokens) else len(self.source.text)
        self.damaged.append((min(start, token.start), max(stop, token.end)))
        closing = self.tokens[end] if end < len(self.tokens) else None
        readable = end > self.at and not self._too_deep()
        if closing is not None and readable and self.automaton.accepts(closing.type):
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
        words = [t.text for t in self.tokens[block.statement : min(self.at, block.statement + 3)]]
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
        header = likely_header(block.kind, self.tokens[block.statement : brace])
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

    # ---- braces ----------------------------------------------------------------------------------

    def _block_left_open(self, block: _Block, token: Token) -> bool:
        """A word that only starts top-level statements, at the left margin, inside a block: the brace was forgotten."""
        if token.text not in messages.USAGE["file"]:
            return False
        if self.source.position(token.start)[1] != 1:
            return False
        if not self._from_colon(block):
            self._report_open(block, Span(self.source, token.start, token.end))
        self._close_all(token.start)
        self.automaton.feed(Token("_NL", "\n", token.start, token.start))
        self.blocks[-1].statement = self.at
        self.blocks[-1].saved = self.automaton.checkpoint()
        return True

    def _from_colon(self, block: _Block) -> bool:
        opened = block.opened
        return opened is not None and opened.start == opened.end and opened.start in self.python

    def _close_blocks_at_end(self) -> None:
        if len(self.blocks) > 1:
            if not self._from_colon(self.blocks[-1]):
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
        self._add(d.mark(next_statement, "the next statement starts here") if next_statement else d)
        self.damaged.append((opened.start, opened.end))
