"""The outline of a policy: its blocks, their statements, and the facts between them."""

from __future__ import annotations

from dataclasses import dataclass, field

from sdcdsl.diagnostics import Span
from sdcdsl.policy import document as d
from sdcdsl.policy.write import expression, fact, statement


@dataclass(frozen=True)
class Symbol:
    kind: str  # of a block ("table"), "fact", "statement" or "file"
    name: str
    detail: str
    span: Span
    heading: Span
    inside: list[Symbol] = field(default_factory=list)


LONGEST = 60  # characters of a statement in an outline


def outline(document: d.Document) -> list[Symbol]:
    return [symbol for item in document.items if (symbol := _of_item(item)) is not None]


def _of_item(item: d.Item) -> Symbol | None:
    if item.span is None:
        return None
    match item:
        case d.Block():
            inside = [Symbol("statement", _short(statement(s)), "", s.span, s.span) for s in item.statements if s.span]
            detail = f"override {item.kind}" if item.override else item.kind
            return Symbol(item.kind, item.name, detail, item.span, item.heading or item.span, inside)
        case d.Use(path, alias):
            return Symbol("file", alias or path, f'use "{path}"', item.span, item.span)
        case d.Param(name, value):
            return Symbol("param", name, expression(value), item.span, item.span)
        case d.Period(name, now):
            return Symbol("param", name, expression(now), item.span, item.span)
        case d.Sensitive() | d.Status() | d.Waive() | d.Require():
            return Symbol("fact", _short(fact(item)), "", item.span, item.span)
    return None


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST else line[: LONGEST - 1] + "…"
