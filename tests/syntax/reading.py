"""Short forms for tests that read text."""

from __future__ import annotations

from sdcdsl.diagnostics import Diagnostic, Source
from sdcdsl.syntax.formatter import format_text
from sdcdsl.syntax.parser import parse
from sdcdsl.syntax.tree import Parsed


def read(text: str) -> tuple[Parsed, list[Diagnostic]]:
    return parse(Source("test.sdc", text))


def codes(text: str) -> list[str]:
    return [d.code for d in read(text)[1]]


def formatted(text: str) -> str:
    parsed, found = read(text)
    assert not found, found
    return format_text(parsed)


def spelled(parsed: Parsed) -> list[tuple[str, str]]:
    """The tokens that carry meaning, as the formatter must keep them."""
    return [
        (t.type, "".join(t.text.split()) if t.type == "DURATION" else t.text.strip())
        for t in parsed.tokens
        if t.type not in ("_NL", "ROW")
    ]
