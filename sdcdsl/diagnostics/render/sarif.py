"""SARIF 2.1.0, the exchange format of code-scanning services."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sdcdsl.diagnostics.codes import CODES
from sdcdsl.diagnostics.diagnostic import Diagnostic, Mark
from sdcdsl.diagnostics.foreign import json_text
from sdcdsl.diagnostics.render.text import clipped
from sdcdsl.diagnostics.source import Span
from sdcdsl.version import __version__

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def render(diagnostics: Iterable[Diagnostic]) -> str:
    found = list(diagnostics)
    rules = sorted({d.code for d in found})
    run = {
        "tool": {
            "driver": {
                "name": "sdcdsl",
                "version": __version__,
                "rules": [{"id": code, "shortDescription": {"text": CODES[code].title}} for code in rules],
            }
        },
        "columnKind": "unicodeCodePoints",
        "results": [_result(d, rules.index(d.code)) for d in found],
    }
    return json_text({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}) + "\n"


def _result(d: Diagnostic, rule: int) -> dict[str, Any]:
    parts = [d.headline, *d.notes, *([f"help: {d.help}"] if d.help else [])]
    out: dict[str, Any] = {
        "ruleId": d.code,
        "ruleIndex": rule,
        "level": d.severity.value,
        "message": {"text": "\n".join(map(clipped, parts))},
        "locations": [_location(m) for m in d.marks[:1]],
    }
    if len(d.marks) > 1:
        out["relatedLocations"] = [_location(m) for m in d.marks[1:]]
    return out


def _location(mark: Mark) -> dict[str, Any]:
    place = mark.place
    if isinstance(place, Span):
        (line, column), (end_line, end_column) = place.first, place.last
        name: str = place.source.name
        region = {"startLine": line, "startColumn": column, "endLine": end_line, "endColumn": end_column}
    else:
        name, region = place.name, {"startLine": place.line} if place.line else {}
    physical: dict[str, Any] = {"artifactLocation": {"uri": name.replace("\\", "/")}}
    if region:
        physical["region"] = region
    out: dict[str, Any] = {"physicalLocation": physical}
    if mark.label:
        out["message"] = {"text": clipped(mark.label)}
    return out
