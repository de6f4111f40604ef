"""Tokens to tree, with recovery: a mistake costs its own line, and one run reports them all.

The automaton is saved at the start of every statement. When a statement cannot go on, the parser says so, skips to the
end of the line, goes back to the saved place and reads the next line. When the broken line opens a block, the block is
entered all the same (by a header the parser puts in), so that its lines are read too.
"""

from __future__ import annotations

from dataclasses import dataclass

from sdcdsl.diagnostics import Diagnostic, Fix, Source, Span, diagnostic, did_you_mean, nearest
from sdcdsl.syntax import messages
from sdcdsl.syntax.automaton import END, RESERVED, Automaton, Checkpoint
from sdcdsl.syntax.grammar import tables
from sdcdsl.syntax.layout import check_layout
from sdcdsl.syntax.lexer import lex
from sdcdsl.syntax.tree import Node, Parsed, Token

EDITIONS = ("1",)
DEEPEST = 200  # nodes inside nodes
MOST_PROBLEMS = 100

_ENDS = ("_NL", END, "RBRACE")
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
    if len(found) > MOST_PROBLEMS:
        more = diagnostic("SDC008", f"{len(found) - MOST_PROBLEMS} more problems in {source.name} are not listed")
        found = [*sorted(found, key=_offset)[:MOST_PROBLEMS], more]
    return parsed, found


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
            if number.type in ("INT", "NUMBER") and number.text not in EDITIONS:
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
        if tokens and tokens[0].text == "sdc":
            self.at = self._end_of_line(0) + 1
        self.blocks[-1].statement = self.at
        self.blocks[-1].saved = self.automaton.checkpoint()
        return True

    # ---- mistakes --------------------------------------------------------------------------

    def _mistake(self, token: Token) -> None:
        if token.type == "RBRACE" and len(self.blocks) == 1:
            span = Span(self.source, token.start, token.end)
            self._report("SDC015", "there is no open block that this brace could close", span)
        elif token.type != "BAD":
            self._explain(token)
        self._recover(token)

    def _explain(self, token: Token) -> None:
        block = self.blocks[-1]
        statement = self.tokens[block.statement : self.at]
        span = Span(self.source, token.start, token.end)
        if not statement and token.type not in _ENDS:
            self._unknown_statement(block, token)
            return
        if len(statement) == 1 and statement[0].type == "NAME" and block.kind in ("data", "table"):
            # `form enterprises`: read as FORMAT "FILE", meant as a keyword with a slip in it.
            self._unknown_statement(block, statement[0])
            return
        accepted = self.automaton.accepted()
        if token.text in RESERVED and "NAME" in accepted:
            self._reserved(token, span, quotable="STRING" in accepted)
            return
        before = statement[-1] if statement else None
        first = statement[0].text if statement else ""
        words = messages.either(messages.expected(accepted, before))
        use = messages.usage(block.kind, first)
        notes = [f"write: {use.pattern}"] if use else []
        help = self._hint(before, token)
        if token.type in _ENDS:
            where = Span(self.source, before.start, before.end) if before else span
            if token.type == "RBRACE":
                where = span
            headline = f"`{first}` stops too early" if first else "the file stops too early"
            self._report("SDC013", headline, where, f"expected {words} after this", notes=notes, help=help)
        else:
            self._report(
                "SDC010",
                f"{messages.found(token)} does not fit here",
                span,
                f"expected {words}",
                notes=notes,
                help=help,
            )

    def _reserved(self, token: Token, span: Span, quotable: bool) -> None:
        help = f'a code is quoted: "{token.text}"' if quotable else "choose another name"
        self._report("SDC025", f"`{token.text}` is a reserved word", span, "a name belongs here", help=help)

    def _hint(self, before: Token | None, token: Token) -> str | None:
        """What people usually meant."""
        if before is None or token.type in _ENDS:
            return None
        touching = before.end == token.start
        after = self.tokens[self.at + 1] if self.at + 1 < len(self.tokens) else None
        if before.type == "INT" and token.type == "COMMA" and touching and after and after.start == token.end:
            return f"decimals are written with a point: {before.text}.{after.text}"
        if before.type == "INT" and token.type == "INT" and len(token.text) == 3:
            return f"numbers have no separators between their digits: {before.text}{token.text}"
        if (
            touching
            and before.type in ("INT", "NUMBER", "NAME", "DATE")
            and token.type not in ("LBRACE", "LPAR", "RPAR")
        ):
            return f'a code with signs in it is quoted: "{before.text}{token.text}…"'
        accepted = self.automaton.accepted()
        if "STRING" in accepted and token.type in ("NAME", "INT") and "NAME" not in accepted:
            return f'texts are quoted: "{token.text}"'
        if token.text in ("then", "otherwise", "and", "or") and before.text == "else":
            return "the alternative is written `otherwise`"
        if token.type == "ELSE":
            return "inside expressions the alternative is written `otherwise`"
        if token.type in ("EQUAL", "COLON") and "NAME" not in accepted:
            return f"the value follows its word directly: {before.text} …"
        return None

    def _unknown_statement(self, block: _Block, token: Token) -> None:
        forms = [word for word in messages.USAGE[block.kind] if word and word != "sdc"]
        span = Span(self.source, token.start, token.end)
        elsewhere = [
            messages.BLOCKS[b] for b, words in messages.USAGE.items() if token.text in words and b != block.kind
        ]
        near = nearest(token.text, forms) if token.type == "NAME" or token.text.isalpha() else None
        label = did_you_mean(token.text, forms) if near else ""
        notes = [f"{messages.BLOCKS[block.kind]} takes: {', '.join(forms)}"]
        if elsewhere and not near:
            notes.insert(0, f"`{token.text}` belongs in {elsewhere[0]}")
        if not token.text.isidentifier():
            self._report("SDC010", f"a statement cannot start with {messages.found(token)}", span, notes=notes)
            return
        code = "SDC011" if block.kind == "file" else "SDC012"
        headline = f"no statement `{token.text[:40]}` in {messages.BLOCKS[block.kind]}"
        self._report(code, headline, span, label, notes=notes, fix=Fix(span, near) if near else None)

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
        self._report_open(block, Span(self.source, token.start, token.end))
        self._close_all(token.start)
        self.automaton.feed(Token("_NL", "\n", token.start, token.start))
        self.blocks[-1].statement = self.at
        self.blocks[-1].saved = self.automaton.checkpoint()
        return True

    def _close_blocks_at_end(self) -> None:
        if len(self.blocks) > 1:
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
