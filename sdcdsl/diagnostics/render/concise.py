"""One line a diagnostic, in the form that editors and grep understand."""

from __future__ import annotations

from collections.abc import Iterable

from sdcdsl.diagnostics.diagnostic import Diagnostic
from sdcdsl.diagnostics.render.text import printable


def render(diagnostics: Iterable[Diagnostic]) -> str:
    return "".join(f"{_place(d)}{d.severity.value}[{d.code}] {printable(d.headline)}{_label(d)}\n" for d in diagnostics)


def _place(d: Diagnostic) -> str:
    return f"{printable(str(d.place))}: " if d.place is not None else ""


def _label(d: Diagnostic) -> str:
    label = d.marks[0].label if d.marks else ""
    return f" ({printable(label)})" if label else ""
