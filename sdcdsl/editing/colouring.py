"""Semantic tokens: what each word is, where a pattern over characters cannot tell."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sdcdsl.editing.names import ALIAS, PARAM, Names
from sdcdsl.editing.opened import Opened
from sdcdsl.syntax.tree import Node, Token
from sdcdsl.vocabulary.functions import FUNCTIONS
from sdcdsl.vocabulary.quantities import QUANTITIES

# The types of the Language Server Protocol, by what the word is here.
KINDS = {
    "keyword": "keyword",
    "comment": "comment",
    "string": "string",
    "number": "number",
    "operator": "operator",
    "dimension": "type",
    "data": "struct",
    "table": "class",
    "attacker": "interface",
    "scenario": "interface",
    "protect": "class",
    ALIAS: "namespace",
    PARAM: "variable",
    "code": "enumMember",
    "rule": "function",
    "method": "function",
    "function": "function",
    "option": "property",
    "format": "macro",
    "quantity": "variable",
    "role": "parameter",
}
_FIRST = {"rule": "rule", "engine": "method", "option": "option", "call": "function", "role": "role"} | dict.fromkeys(
    ("source", "release", "hierarchy_file", "from_file"), "format"
)
_ALL = {"assess": "method", "each": "role", "coalition": "role", "knows": "role", "code": "code"}
_NUMBERS = frozenset({"INT", "NUMBER", "PERCENT", "DURATION", "DATE"})


@dataclass(frozen=True)
class Coloured:
    start: int
    end: int
    kind: str  # a key of KINDS
    declares: bool = False


def coloured(opened: Opened) -> list[Coloured]:
    """In reading order, none overlapping another."""
    parsed = opened.parsed
    words = {t.start: kind for t, kind in _words(parsed.tree)}
    named: dict[int, tuple[str, bool]] = {}
    for occurrence, said in Names(opened.policy).words:
        if occurrence.parsed is parsed:
            named[occurrence.token.start] = said.kind, occurrence.declares
    out = [Coloured(c.start, c.start + len(c.text), "comment") for c in parsed.comments]
    for token in parsed.tokens:
        kind, declares = named.get(token.start, (words.get(token.start) or _plain(token), False))
        if kind is not None:
            out.append(Coloured(token.start, token.end, kind, declares))
    return sorted(out, key=lambda c: c.start)


def _words(node: Node) -> Iterator[tuple[Token, str]]:
    if node.kind in _FIRST:
        yield from ((t, _FIRST[node.kind]) for t in list(node.tokens("NAME"))[:1])
    elif node.kind in _ALL:
        yield from ((t, _ALL[node.kind]) for t in node.tokens())
    elif node.kind == "name":
        yield from ((t, "function" if t.text in FUNCTIONS else "quantity") for t in node.tokens("NAME") if _known(t))
    for child in node.nodes():
        yield from _words(child)


def _known(token: Token) -> bool:
    return token.text in QUANTITIES or token.text in FUNCTIONS


def _plain(token: Token) -> str | None:
    if token.type == "STRING":
        return "string"
    if token.type in _NUMBERS:
        return "number"
    if token.type in ("NAME", "BAD", "_NL", "ROW"):
        return None
    return "keyword" if token.text[:1].isalpha() else "operator" if token.text.strip() in _OPERATORS else None


_OPERATORS = frozenset({"+", "-", "*", "/", "^", "=", "!=", "<", "<=", ">", ">=", ".."})
