"""Values of cells and contributors in messages: left out, unless somebody requires them.

Messages end up in tickets, in logs and on other people's screens. Whoever writes one encloses what the data says in
`secret`; diagnostics keep both readings, and renderers choose (`sdcdsl --show-values`, or SDCDSL_SHOW_VALUES=1).
Names and codes are no secrets, nor is anything that stands in the policy.
"""

from __future__ import annotations

import os
import re

# Two code points that Unicode will never assign: no text has them.
_OPEN, _CLOSE = "\ufdd0", "\ufdd1"
_SECRET = re.compile(f"{_OPEN}[^{_OPEN}{_CLOSE}]*{_CLOSE}")
LEFT_OUT = "…"
_shown = False


class Quoted(str):
    """A text with secrets in it, and what everybody may read of it."""

    __slots__ = ("public",)
    public: str


def secret(text: str) -> str:
    return f"{_OPEN}{text}{_CLOSE}"


def secret_figure(text: str) -> str:
    """A word in a column of numbers: `NA` and `n.a.` are no secret, whatever has a digit is one."""
    return secret(text) if any(c.isdigit() for c in text) else text


def quoted(text: str) -> str:
    """A text as a diagnostic keeps it."""
    if _OPEN not in text:
        return text
    out = Quoted(text.replace(_OPEN, "").replace(_CLOSE, ""))
    out.public = _SECRET.sub(LEFT_OUT, text).replace(_OPEN, "").replace(_CLOSE, "")
    return out


def show_values(shown: bool) -> None:
    """For the whole process."""
    global _shown  # noqa: PLW0603
    _shown = shown


def shows_values() -> bool:
    return _shown or os.environ.get("SDCDSL_SHOW_VALUES", "") not in ("", "0")


def readable(text: str) -> str:
    """A text as it may be shown now."""
    return text.public if isinstance(text, Quoted) and not shows_values() else text


def nothing_left(text: str) -> bool:
    """Is all of it secret, and not to be shown now?"""
    return readable(text) == LEFT_OUT


def has_secrets(text: str) -> bool:
    return isinstance(text, Quoted)
