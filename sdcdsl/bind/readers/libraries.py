"""What is said where a library is missing that reads some kind of data."""

from __future__ import annotations

from sdcdsl.diagnostics import Diagnostic, Span, diagnostic


def missing_library(name: str, extra: str, what: str, span: Span | None) -> Diagnostic:
    help = f'pip install "sdcdsl[{extra}]"'
    return diagnostic("SDC302", f"{what} are read by {name}, which is not installed", span, help=help)
