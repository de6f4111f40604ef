"""Published ranges laid on top of each other, as in Figure 1 and Table 4 of paper 000.

Every range is stretched to a width of 100 with the true value at 0 and ranked by its position. A range that is centred
on the truth runs from −50 to 50: if most of them do, the middle of a range gives the value away.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sdcdsl.outcome import Outcome
from sdcdsl.pattern.pattern import EXACT
from sdcdsl.report.page.figures import count, percent

WIDTH, HEIGHT = 720, 220
LEFT, TOP, BOTTOM = 48, 12, 188  # of the drawing: −100 at the bottom, 100 at the top
MOST_POINTS = 360  # more are not told apart
CENTRED = 1e-6  # of the width
CLASSES = ("truth at the upper end", "truth above the middle", "truth in the middle", "truth below the middle",
           "truth at the lower end")  # fmt: skip


def standardised(outcome: Outcome) -> dict[str, Any] | None:
    """None where the release tells no range with two ends."""
    pattern, data = outcome.pattern, outcome.problem.dataset
    if pattern is None:
        return None
    a = data["a"].values
    with np.errstate(invalid="ignore"):
        width = pattern.high - pattern.low
    shown = data["published"].values & (pattern.status != EXACT) & np.isfinite(width) & (width > 0)
    if not shown.any():
        return None
    low = np.clip(100 * (pattern.low[shown] - a[shown]) / width[shown], -100, 0)  # the upper end is 100 more
    order = np.sort(low)
    middle = low + 50
    shares = [
        (low <= -100 * (1 - CENTRED)),
        (low > -100 * (1 - CENTRED)) & (middle < -100 * CENTRED),
        np.abs(middle) <= 100 * CENTRED,
        (middle > 100 * CENTRED) & (low < -100 * CENTRED),
        (low >= -100 * CENTRED),
    ]
    counts = [int(mask.sum()) for mask in shares]
    return {
        "width": WIDTH,
        "height": HEIGHT,
        "left": LEFT,
        "outline": _outline(order),
        "lines": [
            {"y": round(_y(v), 1), "text": f"{v:+d}".replace("-", "−") if v else "0"} for v in (100, 50, 0, -50, -100)
        ],
        "zero": round(_y(0), 1),
        "cells": count(len(low)),
        "classes": [
            {"name": name, "cells": count(n), "share": percent(n / len(low))}
            for name, n in zip(CLASSES, counts, strict=True)
        ],
        "centred": percent(counts[2] / len(low)),
        "risky": counts[2] > 0.25 * len(low),
    }


def _y(v: float) -> float:
    return BOTTOM - (BOTTOM - TOP) * (v + 100) / 200


def _outline(low: np.ndarray) -> str:
    """The band between lower and upper ends, cells from left to right."""
    edges = np.linspace(0, len(low), min(len(low), MOST_POINTS) + 1)
    step = (WIDTH - LEFT - 4) / len(low)
    chosen = low[np.minimum(edges[:-1].astype(np.int64), len(low) - 1)].tolist()
    corners = [(LEFT + step * x, v) for i, v in enumerate(chosen) for x in (float(edges[i]), float(edges[i + 1]))]
    bottom = [f"{x:.1f},{_y(v):.1f}" for x, v in corners]
    top = [f"{x:.1f},{_y(v + 100):.1f}" for x, v in reversed(corners)]
    return " ".join([*bottom, *top])
