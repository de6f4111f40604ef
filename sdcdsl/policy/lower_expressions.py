"""The lower half of lowering: expressions, and the small pieces every statement is made of."""

from __future__ import annotations

import datetime
import unicodedata
from collections.abc import Iterator

from sdcdsl.diagnostics import Diagnostic, Span, diagnostic
from sdcdsl.policy import expressions as x
from sdcdsl.syntax.tree import Node, Parsed, Token

LONGEST_NUMBER = 40


def text_of(token: Token) -> str:
    """The text inside quotes, or the word; letters composed one way only, so that é is é."""
    return unquoted(token.text) if token.type == "STRING" else composed(token.text)


def unquoted(text: str) -> str:
    if len(text) > 1 and text[0] == text[-1] == '"':
        text = text[1:-1].replace('""', '"')
    return composed(text)


def composed(text: str) -> str:
    return text if text.isascii() else unicodedata.normalize("NFC", text)


_OPERATORS = {"add": "+", "subtract": "-", "multiply": "*", "divide": "/", "power_of": "^"}
_EXPRESSIONS = frozenset(
    {"group", "number", "percent", "text", "inf", "name", "duration", "call", "negative", "negation", "disjunction"}
    | {"conjunction", "cond", "range", "compare", "percent_of", "share_of", "member", "under", "at_level"}
    | set(_OPERATORS)
)


class Pieces:
    """Reads tokens, codes and expressions of one parsed file; what the text alone shows to be wrong is collected."""

    def __init__(self, parsed: Parsed):
        self.parsed = parsed
        self.diagnostics: list[Diagnostic] = []

    def where(self, node: Node) -> x.Expression | None:
        where = node.node("where")
        return next(self.expressions(where)) if where is not None else None

    def expressions(self, node: Node) -> Iterator[x.Expression]:
        return (self.expression(c) for c in node.nodes() if c.kind in _EXPRESSIONS)

    def codes(self, node: Node) -> tuple[x.Code, ...]:
        return tuple(map(self.code, node.nodes("code")))

    def code(self, node: Node) -> x.Code:
        return x.Code(text_of(self.first(node)), span=self.span(node))

    def string(self, node: Node) -> str:
        token = node.token("STRING")
        assert token is not None
        return text_of(token)

    def names(self, tokens: list[Token]) -> str | None:
        return text_of(tokens[0]) if tokens else None

    def whole(self, node: Node) -> int:
        token = node.token("INT")
        assert token is not None
        return self.integer(token)

    def integer(self, token: Token) -> int:
        return int(self.number(token))

    def number(self, token: Token) -> str:
        text = token.text.rstrip("%")
        if len(text) > LONGEST_NUMBER or float(text) == float("inf"):
            self.diagnostics.append(
                diagnostic("SDC020", "this number is too large", Span(self.parsed.source, token.start, token.end))
            )
            return "1"
        return text

    def date(self, token: Token) -> str:
        try:
            datetime.date.fromisoformat(token.text)
        except ValueError:
            span = Span(self.parsed.source, token.start, token.end)
            self.diagnostics.append(
                diagnostic("SDC021", f"there is no date {token.text}", span, help="dates are written year-month-day")
            )
        return token.text

    def first(self, node: Node) -> Token:
        token = node.token()
        assert token is not None
        return token

    def span(self, node: Node) -> Span:
        return self.parsed.span(node)

    # ---- expressions ----------------------------------------------------------------------------------

    def expression(self, node: Node) -> x.Expression:
        span = self.span(node)
        match node.kind:
            case "group":
                return next(self.expressions(node))
            case "number":
                return x.Number(self.number(self.first(node)), span=span)
            case "percent":
                return x.Percent(self.number(self.first(node)), span=span)
            case "text":
                return x.Text(self.string(node), span=span)
            case "inf":
                return x.Infinity(span=span)
            case "name":
                return x.Name(text_of(self.first(node)), span=span)
            case "duration":
                return self.duration(self.first(node), span)
            case "call":
                return x.Call(text_of(self.first(node)), self.arguments(node), span=span)
            case "negative":
                return x.Negative(next(self.expressions(node)), span=span)
            case "negation":
                return x.Not(next(self.expressions(node)), span=span)
            case "disjunction":
                return x.Some(tuple(self.expressions(node)), span=span)
            case "conjunction":
                return x.Every(tuple(self.expressions(node)), span=span)
            case "cond":
                condition, then, otherwise = self.expressions(node)
                return x.Cond(condition, then, otherwise, span=span)
            case "range":
                low, high = self.expressions(node)
                return x.Range(low, high, span=span)
            case "compare":
                operator = node.node("comparator")
                assert operator is not None
                left, right = self.expressions(node)
                return x.Compare(self.first(operator).text, left, right, span=span)
            case "percent_of":
                token = self.first(node)
                share = x.Percent(self.number(token), span=Span(self.parsed.source, token.start, token.end))
                return x.Binary("of", share, next(self.expressions(node)), span=span)
            case "share_of":
                token = self.first(node)
                name = x.Name(text_of(token), span=Span(self.parsed.source, token.start, token.end))
                return x.Binary("of", name, next(self.expressions(node)), span=span)
            case "member" | "under" | "at_level":
                return self.code_test(node, span)
            case _:
                left, right = self.expressions(node)
                return x.Binary(_OPERATORS[node.kind], left, right, span=span)

    def code_test(self, node: Node, span: Span) -> x.Expression:
        dimension, negated = text_of(self.first(node)), node.node("not_") is not None
        if node.kind == "at_level":
            return x.AtLevel(dimension, self.whole(node), negated=negated, span=span)
        codes = self.codes(node)
        if node.kind == "under":
            return x.Under(dimension, codes[0], negated=negated, span=span)
        return x.Member(dimension, codes, negated=negated, span=span)

    def arguments(self, node: Node) -> tuple[x.Argument, ...]:
        out: list[x.Argument] = []
        for child in node.nodes():
            if child.kind == "named":
                value = next(self.expressions(child))
                out.append(x.Argument(text_of(self.first(child)), value, span=self.span(child)))
            else:
                value = self.expression(child)
                out.append(x.Argument(None, value, span=value.span))
        return tuple(out)

    def duration(self, token: Token, span: Span) -> x.Duration:
        digits = token.text.rstrip("hmins").rstrip()
        return x.Duration(digits, token.text[len(digits) :].strip(), span=span)
