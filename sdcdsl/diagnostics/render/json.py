"""One JSON document: {"diagnostics": […]}. Lines and columns count from 1; the end column is just behind the span."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sdcdsl.diagnostics.diagnostic import Diagnostic, Mark, public
from sdcdsl.diagnostics.foreign import json_text
from sdcdsl.diagnostics.render.text import clipped
from sdcdsl.diagnostics.source import Place, Span


def render(diagnostics: Iterable[Diagnostic]) -> str:
    return json_text({"diagnostics": [as_json(d) for d in diagnostics]}) + "\n"


def as_json(d: Diagnostic) -> dict[str, Any]:
    d = public(d)
    out: dict[str, Any] = {
        "code": d.code,
        "severity": d.severity.value,
        "headline": clipped(d.headline),
        "marks": [_mark(m) for m in d.marks],
        "notes": [clipped(note) for note in d.notes],
        "help": clipped(d.help) if d.help else d.help,
    }
    if d.fix is not None:
        out["fix"] = {**place_as_json(d.fix.span), "text": d.fix.text}
    return out


def _mark(mark: Mark) -> dict[str, Any]:
    return {**place_as_json(mark.place), "label": clipped(mark.label)}


def place_as_json(place: Place) -> dict[str, Any]:
    if isinstance(place, Span):
        (line, column), (end_line, end_column) = place.first, place.last
        return {
            "file": place.source.name,
            "line": line,
            "column": column,
            "end_line": end_line,
            "end_column": end_column,
        }
    return {"file": place.name, "line": place.line, "column": place.column, "detail": place.detail}
