"""How far changed figures are from the true ones: a histogram of signed relative deviations, and a table by group."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from sdcdsl.outcome import Outcome
from sdcdsl.pattern.pattern import CHANGED
from sdcdsl.report.page.figures import MINUS, count, figure, per_cent
from sdcdsl.utility.measures import DeviationMeasures, Spread

EDGES = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0)  # per cent
WIDTH, HEIGHT, BASE, TOP = 720, 240, 196, 24  # of the drawing, its zero line and its highest bar


def histogram(outcome: Outcome) -> dict[str, Any] | None:
    """Changed cells by class of their deviation, the sensitive ones apart; None where no figure was changed."""
    pattern, data = outcome.pattern, outcome.problem.dataset
    if pattern is None:
        return None
    a, published = data["a"].values, data["published"].values
    printed = published & (pattern.status == CHANGED) & ~np.isnan(pattern.value) & (a != 0)
    if not printed.any():
        return None
    share = 100 * (pattern.value[printed] - a[printed]) / np.abs(a[printed])
    sensitive = data["status"].values[printed] == "u"
    middle = len(EDGES) + 1
    size = np.searchsorted(EDGES, np.abs(share) * (1 - 1e-12), side="left") + 1
    at = np.where(np.abs(share) < 1e-9, middle, middle + np.sign(share) * size).astype(np.int64)
    own = np.bincount(at[sensitive], minlength=2 * middle + 1)
    other = np.bincount(at[~sensitive], minlength=2 * middle + 1)
    return {
        "classes": _bars(_names(), own, other),
        "ticks": _ticks(WIDTH / (2 * middle + 1)),
        "width": WIDTH,
        "height": HEIGHT,
        "base": BASE,
        "cells": count(len(share)),
        "zero": count(int((published & (pattern.status == CHANGED) & (a == 0)).sum())),
    }


def _names() -> list[str]:
    ends = [f"{edge:g}" for edge in EDGES]
    sizes = [f"up to {ends[0]}", *(f"{low} to {high}" for low, high in pairwise(ends)), f"more than {ends[-1]}"]
    return [*(f"{size} % below" for size in reversed(sizes)), "not at all", *(f"{size} % above" for size in sizes)]


def _ticks(step: float) -> list[dict[str, Any]]:
    """Under the borders of classes; nought stands under its own."""
    below = [(i + 1, f"{MINUS}{edge:g}") for i, edge in enumerate(reversed(EDGES))]
    above = [(len(EDGES) + 3 + i, f"+{edge:g}") for i, edge in enumerate(EDGES)]
    return [{"x": round(at * step, 1), "text": text} for at, text in [*below, (len(EDGES) + 1.5, "0"), *above]]


def _bars(names: list[str], own: np.ndarray, other: np.ndarray) -> list[dict[str, Any]]:
    most = max(int((own + other).max()), 1)
    step = WIDTH / len(names)
    out = []
    for i, name in enumerate(names):
        high = (BASE - TOP) * int(own[i] + other[i]) / most
        dark = (BASE - TOP) * int(own[i]) / most
        out.append(
            {
                "name": name,
                "x": round(i * step + step * 0.14, 1),
                "middle": round((i + 0.5) * step, 1),
                "width": round(step * 0.72, 1),
                "y": round(BASE - high, 1),
                "height": round(high, 1),
                "dark_y": round(BASE - dark, 1),
                "dark_height": round(dark, 1),
                "sensitive": count(int(own[i])),
                "others": count(int(other[i])),
                "cells": count(int(own[i] + other[i])),
                "empty": not own[i] + other[i],
            }
        )
    return out


def groups(outcome: Outcome) -> list[dict[str, str]]:
    """As in Table 3 of paper 004: all cells, the sensitive ones, the others."""
    made = outcome.measures
    if made is None:
        return []
    named = (("all cells", made.all_cells), ("sensitive", made.sensitive_cells), ("not sensitive", made.other_cells))
    return [_group(name, found) for name, found in named if found is not None and found.cells]


def _group(name: str, found: DeviationMeasures) -> dict[str, str]:
    return {
        "name": name,
        "cells": count(found.cells),
        **{f"absolute_{key}": text for key, text in _spread(found.absolute, figure).items()},
        **{f"relative_{key}": text for key, text in _spread(found.relative, per_cent).items()},
        "two_norm": figure(found.two_norm, 5),
    }


def _spread(found: Spread, written) -> dict[str, str]:
    return {
        "mean": written(_short(found.mean)),
        "sd": written(_short(found.sd)),
        "most": written(_short(found.maximum)),
    }


def _short(x: float) -> float:
    return float(f"{x:.5g}")


def widths(outcome: Outcome) -> dict[str, str] | None:
    """Of the ranges that the release tells."""
    found = outcome.measures.widths if outcome.measures is not None else None
    if found is None:
        return None
    return {
        "cells": count(found.cells),
        "mean": per_cent(_short(found.relative.mean)),
        "most": per_cent(_short(found.relative.maximum)),
        "off": per_cent(_short(found.middle_error.mean)),
        "centred": count(found.centred),
    }
