"""Workflow commands, so that a pull request shows each diagnostic on its line."""

from __future__ import annotations

from collections.abc import Iterable

from sdcdsl.diagnostics.diagnostic import Diagnostic
from sdcdsl.diagnostics.foreign import visible
from sdcdsl.diagnostics.render.json import place_as_json
from sdcdsl.diagnostics.render.text import printable


def render(diagnostics: Iterable[Diagnostic]) -> str:
    return "".join(_one(d) for d in diagnostics)


def _one(d: Diagnostic) -> str:
    properties: dict[str, object] = {}
    if d.place is not None:
        at = place_as_json(d.place)
        properties = {"file": at["file"], "line": at["line"], "col": at["column"]}
        if "end_line" in at:
            properties |= {"endLine": at["end_line"], "endColumn": at["end_column"]}
    properties["title"] = d.code
    label = d.marks[0].label if d.marks else ""
    parts = [d.headline, label, *d.notes, f"help: {d.help}" if d.help else ""]
    message = _escape("\n".join(printable(p, keep_lines=True) for p in parts if p))
    written = ",".join(f"{k}={_escape_property(visible(str(v)))}" for k, v in properties.items() if v is not None)
    return f"::{d.severity.value} {written}::{message}\n"


def _escape(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _escape_property(text: str) -> str:
    return _escape(text).replace(":", "%3A").replace(",", "%2C")
