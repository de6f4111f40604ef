"""What output checkers are given in the form that SACRO's viewer reads (`results.json`): for every table the cells that
fail a rule, by their row and column, and whether the output passes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from sdcdsl.outcome import SAFE, Outcome
from sdcdsl.report.review.cells import ReviewedCells, reviewed
from sdcdsl.report.review.context import ReviewContext

# Our rules by the names that the viewer knows.
NAMES = {"threshold": "threshold", "contributors": "threshold", "dominance": "nk-rule", "p_percent": "p-ratio"}
NAMES |= {"pq": "p-ratio"}


def write_sacro(outcome: Outcome, table: str, path: Path, context: ReviewContext) -> None:
    cells = reviewed(outcome, table)
    failing = _failing(cells)
    hidden = [role not in ("", "published on purpose") for role in cells.role]
    suppressed = any(hidden)
    sdc = {
        "summary": {"suppressed": suppressed, "negative": len(failing["negative"]), "missing": len(failing["missing"])}
        | {name: len(at) for name, at in failing.items() if name not in ("negative", "missing")},
        "cells": failing,
    }
    counted = "; ".join(f"{name}: {len(at)} cells" for name, at in failing.items() if at)
    passes = "pass" if outcome.verdict in SAFE else "fail"
    output: dict[str, Any] = {
        "uid": table,
        "status": passes,
        "type": "table",
        "properties": {"method": outcome.method, "dimensions": cells.codes.columns},
        "files": [{"name": name, "checksum": digest, "sdc": sdc} for name, digest in context.released],
        "sdc": sdc,
        "outcome": _outcome(cells),
        "command": context.provenance.title,
        "summary": f"{passes}{'; suppressed' if suppressed else ''}{f'; {counted}' if counted else ''}",
        "timestamp": context.provenance.day.isoformat(),
        "comments": [],
        "exception": "",
    }
    document = {"version": f"sdcdsl {context.provenance.versions['sdcdsl']}", "results": {table: output}}
    path.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n", encoding="utf-8", newline="\n")


def _places(cells: ReviewedCells) -> np.ndarray:
    """Where each cell stands: along the first dimension down, along all others, read as one, across."""
    first = cells.codes.columns[0]
    down = _position(cells.codes[first].to_list())
    others = [tuple(row) for row in cells.codes.drop(first).rows()] if cells.codes.width > 1 else [()] * len(cells)
    return np.stack([down, _position(others)], axis=1)


def _position(labels: list[Any]) -> np.ndarray:
    number: dict[Any, int] = {}
    return np.array([number.setdefault(label, len(number)) for label in labels], dtype=np.int64)


def _failing(cells: ReviewedCells) -> dict[str, list[list[int]]]:
    places = _places(cells).tolist()
    out: dict[str, list[list[int]]] = {
        name: [] for name in ("negative", "missing", "threshold", "p-ratio", "nk-rule", "all-values-are-same", "other")
    }
    for at, role in enumerate(cells.role):
        if cells.value[at] < 0:
            out["negative"].append(places[at])
        if role == "primary":
            for name in {NAMES.get(rule, "other") for rule in cells.rules[at] or ("",)}:
                out[name].append(places[at])
    return out


def _outcome(cells: ReviewedCells) -> dict[str, dict[str, str]]:
    """By column and row, in words."""
    first = cells.codes.columns[0]
    made: dict[str, dict[str, str]] = {}
    for row, role, rules in zip(cells.codes.rows(), cells.role, cells.rules, strict=True):
        column = " | ".join(row[1:]) or "value"
        said = "; ".join(sorted({NAMES.get(rule, rule) for rule in rules})) if role == "primary" else role
        made.setdefault(column, {})[row[cells.codes.columns.index(first)]] = said or "ok"
    return made
