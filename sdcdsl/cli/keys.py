"""What is said of a key that cannot be used: never what is in it."""

from __future__ import annotations

from sdcdsl.diagnostics import Diagnostic, FilePlace, diagnostic
from sdcdsl.report.signature import NoKey


def unusable(path: str, error: NoKey) -> Diagnostic:
    return diagnostic("SDC414", f"the key {path} cannot be used: {error}", FilePlace(path))
