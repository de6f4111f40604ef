"""The words of a τ-ARGUS line: `<KEYWORDS>`, "quoted names" side by side, bare words; and cutting outside quotes."""

from __future__ import annotations

import re
from collections.abc import Iterator

WORD = re.compile(r'"([^"]*)"?|(<[^<>"\s]*>)|([^\s"<]+|<)')


def words(line: str) -> Iterator[str]:
    for quoted, keyword, bare in WORD.findall(line):
        yield keyword.upper() or bare or quoted


def cut(text: str, separator: str) -> list[str]:
    """Parts between separators that stand outside quotes, stripped of blanks but not of their quotes."""
    parts, start, quoted = [], 0, False
    for at, character in enumerate(text):
        if character == '"':
            quoted = not quoted
        elif character == separator and not quoted:
            parts.append(text[start:at].strip())
            start = at + 1
    return [*parts, text[start:].strip()]


def unquoted(text: str) -> str:
    return text[1:-1] if len(text) >= 2 and text[0] == text[-1] == '"' else text
