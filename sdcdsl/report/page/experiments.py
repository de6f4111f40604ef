"""Attempts to undo an adjusted table (paper 002), as a table of errors by class."""

from __future__ import annotations

import math
from typing import Any

from sdcdsl.report.page.figures import count, per_cent
from sdcdsl.risk import CLASSES, SAFE, Assessment
from sdcdsl.vocabulary.methods import EXPERIMENTS

_HEATS = (1.0, 10.0, 25.0, 50.0)  # per cent: shades of a share


def experiments_of(made: Assessment | None) -> dict[str, Any] | None:
    if made is None:
        return None
    trials = [
        {
            "name": trial.experiment,
            "about": EXPERIMENTS[trial.experiment].about,
            "norm": trial.norm,
            "replications": count(trial.replications),
            "shares": [
                {"text": per_cent(round(float(s), 1)), "heat": sum(s > h for h in _HEATS)} for s in trial.shares
            ],
            "median": per_cent(round(trial.median, 2)) if math.isfinite(trial.median) else "over 100 %",
            "within": per_cent(round(100 * trial.within, 1)),
            "verdict": trial.verdict,
            "safe": trial.verdict == SAFE,
            "why": trial.why,
        }
        for trial in made.trials
    ]
    return {
        "verdict": made.verdict,
        "safe": made.verdict == SAFE,
        "reasons": made.reasons,
        "classes": list(CLASSES),
        "trials": trials,
        "seed": made.seed,
        "options": [f"{name} {_plain(value)}" for name, value in made.options.items()],
    }


def _plain(value: Any) -> str:
    return " and ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
