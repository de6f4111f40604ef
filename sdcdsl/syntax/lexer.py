"""Text to tokens.

The patterns come from the grammar; what is added here is the layout (which newlines end a statement) and the mistakes
people bring along from other languages, each of which gets its own message and a `BAD` token.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field
from functools import cache

from sdcdsl.diagnostics import Diagnostic, Fix, Source, Span, diagnostic
from sdcdsl.syntax.grammar import ParserTables, tables
from sdcdsl.syntax.tree import Comment, Token

DEEPEST = 100  # parentheses

_QUOTES = "'’‘“”„«»`´"
_FOREIGN = {
    "==": "=",
    "<>": "!=",
    "≠": "!=",
    "=<": "<=",
    "=>": ">=",
    "≤": "<=",
    "≥": ">=",
    "&&": "and",
    "||": "or",
    "&": "and",
    ":=": "=",
    "×": "*",
    "·": "*",
    "÷": "/",
    "**": "^",
    "−": "-",
    "–": "-",
    "…": "..",
    "...": "..",
    "%in%": "in",
    "∞": "inf",
    "//": "#",
    "/*": "#",
}
_SLIPS = [
    ("OPEN_STRING", r'"[^"\r\n]*'),
    ("OTHER_QUOTE", rf"[{_QUOTES}][^{_QUOTES}\"\r\n]*[{_QUOTES}\"]?"),
    ("BAD_PERCENT", r"[0-9]+(?:\.[0-9]+)?(?:[ \t]+%|[ \t]*(?:percent|per cent)(?!\w))|[0-9]+,[0-9]+[ \t]*%"),
    ("BAD_TIME", r"[0-9]+(?:\.[0-9]+)?[ \t]?(?:seconds?|secs?|minutes?|mins|hours?|hrs?)(?!\w)"),
    ("SEPARATED", r"[0-9]{1,3}(?:'[0-9]{3})+|[0-9]+(?:\.[0-9]+){2,}"),
    ("BAD_NUMBER", r"[0-9]+\w+|\.[0-9]+%?|[0-9]+\.(?!\.)"),
    ("BRACKETS", r"\[[^\[\]\r\n]*\]?"),
    ("FOREIGN", "|".join(re.escape(s) for s in sorted(_FOREIGN, key=len, reverse=True)) + "|!(?!=)"),
]
# Of the words that start a statement inside a block, those that nobody would put into an expression.
_INSIDE_BLOCKS = frozenset({"against", "assess", "bounds", "codes", "column", "cost", "hierarchy", "method", "release"})
# Where a parenthesis is still open, a line that starts with one of these means that it was forgotten.
_BALANCE = re.compile(r"[(){}]|\n[ \t]*\n")
LONGEST_LOOK = 2_000
_TWO_ARGUMENTS = re.compile(r"[1-9][0-9]*,[0-9]+[ \t]*%")  # nobody begins with 0: that is a decimal
_STATEMENT_AHEAD = re.compile(r"[ \t]*([a-z]+)[ \t]+[^\s:,)=]")


@dataclass
class Lexed:
    tokens: list[Token] = field(default_factory=list)
    comments: list[Comment] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)


@cache
def _scanner() -> tuple[re.Pattern[str], re.Pattern[str]]:
    t = tables()
    patterns = t.patterns | dict(_SLIPS)
    order = ["STRING", "OPEN_STRING", "COMMENT", "_NL", "DATE", "DURATION", "BAD_PERCENT", "PERCENT", "SEPARATED"]
    order += ["BAD_TIME", "NUMBER", "INT", "BAD_NUMBER", "NAME", "FOREIGN", "BRACKETS", "OTHER_QUOTE"]
    symbols = "|".join(re.escape(s) for s in sorted(t.symbols, key=len, reverse=True))
    alternatives = [f"(?P<{name}>{patterns[name]})" for name in order]
    alternatives += [f"(?P<SYMBOL>{symbols})", r"(?P<SPACE>[ \t]+)", f"(?P<ROW>{patterns['ROW']})", r"(?P<ODD>.)"]
    line_start = re.compile(f"(?P<ROW>{patterns['ROW']})|(?P<BULLET>{patterns['BULLET']})")
    return re.compile("|".join(alternatives), re.DOTALL), line_start


@cache
def _opening_words() -> frozenset[str]:
    """The keywords that start a statement at the top of a file."""
    t = tables()
    top = {state - 1 for row in t.actions for symbol, state in row.items() if symbol == "_NL" and state > 0}
    return frozenset(word for word, terminal in t.keywords.items() if any(_opens(t, s, terminal) for s in top))


def _opens(t: ParserTables, state: int, terminal: str) -> bool:
    return "DIMENSION" in t.actions[state] and t.actions[state].get(terminal, 0) > 0


def lex(source: Source) -> Lexed:
    return _Lexer(source).run()


class _Lexer:
    def __init__(self, source: Source):
        self.source = source
        self.text = source.text
        self.out = Lexed()
        self.open: list[int] = []  # offsets of the parentheses still open
        self.brackets = 0  # that stand for braces

    def run(self) -> Lexed:
        scanner, line_start = _scanner()
        text, size = self.text, len(self.text)
        tokens = self.out.tokens
        symbols = tables().symbols
        at = 0
        first = line_start.match(text, len(text) - len(text.lstrip(" \t")))
        if first:
            at = self._row(first)
        while at < size:
            match = scanner.match(text, at)
            assert match is not None and match.lastgroup is not None
            kind, start, at = match.lastgroup, at, match.end()
            if kind == "SPACE":
                continue
            if kind == "NAME" or kind in ("INT", "STRING", "PERCENT", "NUMBER", "DATE", "DURATION"):
                if match.group() == "else" and tokens and tokens[-1].type == "_NL":
                    tokens.pop()
                tokens.append(Token(kind, match.group(), start, at))
            elif kind == "SYMBOL":
                self._symbol(Token(symbols[match.group()], match.group(), start, at))
                if len(self.open) > DEEPEST:
                    at = self._too_deep(start)
            elif kind == "_NL":
                self._newline(start, at)
                row = line_start.match(text, at) if not self.open else None
                if row:
                    at = self._row(row)
            elif kind == "COMMENT":
                own_line = not text[text.rfind("\n", 0, start) + 1 : start].strip()
                self.out.comments.append(Comment(match.group().rstrip(), start, at, own_line))
            elif kind == "ROW":
                at = self._row(match)
            else:
                self._slip(kind, Token("BAD", match.group(), start, at))
        if self.open:
            self._unclosed(self.open[-1])
        return self.out

    def _row(self, match: re.Match[str]) -> int:
        """A row or a bullet goes on with the statement above it."""
        tokens = self.out.tokens
        if tokens and tokens[-1].type == "_NL":
            tokens.pop()
        assert match.lastgroup is not None
        tokens.append(Token(match.lastgroup, match.group(), match.start(), match.end()))
        return match.end()

    def _newline(self, start: int, end: int) -> None:
        tokens = self.out.tokens
        if self.open:
            ahead = _STATEMENT_AHEAD.match(self.text, end)
            if ahead is None or ahead.group(1) not in _opening_words() | _INSIDE_BLOCKS or self._is_closed(end):
                return
            self._unclosed(self.open[-1])
            self.open.clear()
        if tokens and tokens[-1].type not in ("_NL", "COMMA"):
            tokens.append(Token("_NL", self.text[start:end], start, end))

    def _is_closed(self, at: int) -> bool:
        """Do parentheses balance before the block or the next blank line ends? Then the word is only a word."""
        depth = len(self.open)
        for sign in _BALANCE.finditer(self.text, at, at + LONGEST_LOOK):
            if sign.group() not in "()":
                return False
            depth += 1 if sign.group() == "(" else -1
            if depth == 0:
                return True
        return False

    def _symbol(self, token: Token) -> None:
        if token.text == "(":
            self.open.append(token.start)
        elif token.text == ")":
            if self.open:
                self.open.pop()
        elif token.text in "{}" and self.open:
            self._unclosed(self.open[-1])
            self.open.clear()
        self.out.tokens.append(token)

    def _unclosed(self, at: int) -> None:
        span = Span(self.source, at, at + 1)
        self._report(diagnostic("SDC016", "this parenthesis is never closed", span, "opened here"))
        end = self.out.tokens[-1].end
        self.out.tokens.append(Token("BAD", "", end, end))

    def _too_deep(self, at: int) -> int:
        """The rest of the line is lost."""
        span = Span(self.source, at, at + 1)
        if not any(d.code == "SDC007" for d in self.out.diagnostics):
            self._report(diagnostic("SDC007", f"more than {DEEPEST} parentheses inside each other", span, "too deep"))
        end = self.text.find("\n", at)
        end = len(self.text) if end < 0 else end
        self.out.tokens.append(Token("BAD", "", end, end))
        self.open.clear()
        return end

    def _report(self, d: Diagnostic) -> None:
        self.out.diagnostics.append(d)

    def _slip(self, kind: str, token: Token) -> None:
        """A mistake inside one token: say what to write instead."""
        if token.text == "]" and self.brackets:
            self.brackets -= 1
            self._symbol(Token("RBRACE", "}", token.start, token.end))
            return
        span = Span(self.source, token.start, token.end)
        if kind == "BAD_PERCENT" and self._among_arguments() and _TWO_ARGUMENTS.fullmatch(token.text):
            self._report(_one_or_two(token.text, span))
        else:
            self._report(_SLIP_MESSAGES[kind](token.text, span))
        if kind == "BRACKETS" and not token.text.strip("[ \t"):
            self.brackets += 1  # read on as if it were a brace
            token = Token("LBRACE", "{", token.start, token.end)
        self.out.tokens.append(token)

    def _among_arguments(self) -> bool:
        """Does the innermost parenthesis follow a name, as that of a rule does?"""
        before = self.text[: self.open[-1]].rstrip(" \t")[-1:] if self.open else ""
        return before.isalnum() or before == "_"


def _open_string(text: str, span: Span) -> Diagnostic:
    return diagnostic(
        "SDC017", "this text has no closing quote", span, "starts here", help='a text stands on one line: "…"'
    )


def _other_quote(text: str, span: Span) -> Diagnostic:
    inside = text.strip(_QUOTES + '"')
    instead = f'"{inside}"'
    return diagnostic(
        "SDC019",
        'texts and codes are quoted with "…"',
        span,
        f"write {instead}",
        fix=Fix(span, instead) if len(text) > 1 and text[-1] in _QUOTES + '"' else None,
    )


def _one_or_two(text: str, span: Span) -> Diagnostic:
    """`dominance(2,85%)`: a comma between arguments is much more likely than one in a number, and nobody can tell."""
    whole, rest = text.rstrip("% \t").split(",")
    one, two = f"{whole}.{rest}%", f"{whole}, {rest}%"
    headline = "a comma between digits: two arguments, or a decimal?"
    label = f"write {two}, with a blank, for two arguments; {one} for a decimal"
    return diagnostic("SDC020", headline, span, label, fix=Fix(span, two, certain=False))


def _bad_percent(text: str, span: Span) -> Diagnostic:
    instead = re.sub(r"[ \t]+|per ?cent|%", "", text).replace(",", ".") + "%"
    if "," in text:
        return diagnostic(
            "SDC020", "decimals are written with a point", span, f"write {instead}", fix=Fix(span, instead)
        )
    headline = "a percentage is written with `%`" if "%" not in text else "a percentage is written without a space"
    return diagnostic("SDC020", headline, span, f"write {instead}", fix=Fix(span, instead))


def _bad_time(text: str, span: Span) -> Diagnostic:
    digits, unit = re.sub("[^0-9.]", "", text), re.sub("[^a-z]", "", text)[0]
    instead = f"{digits} {'min' if unit == 'm' else unit}"
    return diagnostic("SDC020", "times are in s, min or h", span, f"write {instead}", fix=Fix(span, instead))


def _brackets(text: str, span: Span) -> Diagnostic:
    if text.strip("[] \t"):
        help = 'lists have no brackets: codes A, B; behind `in` they have parentheses: in ("A", "B")'
        return diagnostic("SDC019", "the language has no brackets", span, help=help)
    return diagnostic("SDC019", "a block stands in braces", span, "write `{` … `}`")


def _bad_number(text: str, span: Span) -> Diagnostic:
    if text.startswith("."):
        fix = f"0{text}"
        return diagnostic("SDC020", "a number starts with a digit", span, f"write {fix}", fix=Fix(span, fix))
    if text.endswith("."):
        fix = text[:-1]
        return diagnostic("SDC020", "a number ends with a digit", span, f"write {fix}", fix=Fix(span, fix))
    day = re.fullmatch(r"([0-3]?[0-9])\.([01]?[0-9])\.([0-9]{4})", text)
    if day is not None:
        instead = f"{day[3]}-{day[2]:0>2}-{day[1]:0>2}"
        return diagnostic(
            "SDC021", "dates are written year-month-day", span, f"write {instead}", fix=Fix(span, instead)
        )
    grouped = re.fullmatch(r"[0-9]{1,3}(?:\.[0-9]{3}){2,}", text)
    digits = re.sub(r"[_'.]" if grouped else r"[_']", "", text)
    if digits.isdigit() and digits.isascii():
        return diagnostic(
            "SDC020", "numbers have no separators between their digits", span, f"write {digits}", fix=Fix(span, digits)
        )
    return diagnostic(
        "SDC020",
        f"`{text[:40]}` is neither a number nor a name",
        span,
        help=f'a code that starts with a digit is quoted: "{text[:40]}"',
    )


def _foreign(text: str, span: Span) -> Diagnostic:
    instead = "not" if text == "!" else _FOREIGN[text]
    if instead == "#":
        return diagnostic("SDC019", "comments start with `#`", span, "write `#`")
    return diagnostic(
        "SDC019", f"`{text}` is written `{instead}` here", span, f"write `{instead}`", fix=Fix(span, instead)
    )


def _odd(text: str, span: Span) -> Diagnostic:
    if text == "%":
        return diagnostic("SDC018", "`%` stands directly after its number", span, help="write 10% of value")
    if text == "?":
        help = "if CONDITION then AMOUNT otherwise AMOUNT"
        return diagnostic("SDC019", "a choice is written with `if`", span, help=help)
    if text == ".":
        return diagnostic("SDC019", "a range is written with `..`", span, "write `..`", fix=Fix(span, ".."))
    visible = text.isprintable() and not unicodedata.combining(text)
    name = f"`{text}`" if visible else f"U+{ord(text):04X} ({unicodedata.name(text, 'without a name').lower()})"
    notes = ["a code or text with such a character is quoted"] if visible else []
    return diagnostic("SDC018", f"the language does not use the character {name}", span, notes=notes)


_SLIP_MESSAGES = {
    "OPEN_STRING": _open_string,
    "OTHER_QUOTE": _other_quote,
    "BAD_PERCENT": _bad_percent,
    "BAD_TIME": _bad_time,
    "BRACKETS": _brackets,
    "SEPARATED": _bad_number,
    "BAD_NUMBER": _bad_number,
    "FOREIGN": _foreign,
    "ODD": _odd,
}
