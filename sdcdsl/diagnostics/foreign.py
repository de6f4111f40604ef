"""Text that others wrote, as it may be shown: nothing in it moves the cursor, sets colours or turns the direction of
reading.

Codes, titles, names of files and columns, reasons, fields of certificates and locks come from anybody. Control
characters (escape sequences begin with one), marks that change the direction of writing, line and paragraph separators
and other characters without a shape are written as `\\u{202e}`. Spaces of any width and the joiners of Persian and
Hindi words stay.
"""

from __future__ import annotations

import json
import re
from typing import Any

_HIDDEN = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\xad"  # controls but tab and line feed; the soft hyphen
    "\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"  # marks of direction, separators, what has no width
    "\ufeff\ufff9-\ufffb\ud800-\udfff"  # halves of pairs stand for bytes of file names that are no text
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_IN_LINES = re.compile(f"[{_HIDDEN}]")
_IN_A_LINE = re.compile(f"[{_HIDDEN}\t\n]")


def visible(text: str, *, lines: bool = False) -> str:
    """`lines`: line feeds and tabs are ours, and stay."""
    if text.isprintable():
        return text
    return (_IN_LINES if lines else _IN_A_LINE).sub(_written, text)


def all_visible(text: str) -> str:
    """For lines of a policy, in which a space of another width is a mistake that must be seen."""
    return text if text.isprintable() else "".join(c if c.isprintable() else _escape(c) for c in text)


def json_text(document: Any, indent: int | None = 2) -> str:
    """JSON has escapes of its own, and programs read them back as what they stand for."""
    text = json.dumps(document, indent=indent, ensure_ascii=False)
    return (
        text if text.isascii() and "\x7f" not in text else _IN_LINES.sub(lambda found: json.dumps(found[0])[1:-1], text)
    )


def _written(found: re.Match[str]) -> str:
    return _escape(found[0])


def _escape(character: str) -> str:
    return f"\\u{{{ord(character):x}}}"
