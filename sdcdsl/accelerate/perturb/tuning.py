"""What the search for perturbed tables was tuned with, and on which tables."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Tuning:
    # `perturb-cube` of benchmarks/scaling.py, 3 375 cells.
    adjusted_from: int = 1_000  # cells that move; for fewer, mixed-integer problems have the optimum in seconds
    adjusting: float = 0.5  # of the time: for closest tables
    long: float = 60.0  # seconds of it where there is no limit
    gain: float = 0.003  # of the cost: a better table by less is not asked about its levels
    patience: float = 20.0  # seconds to find out whether other ends would do


TUNING = Tuning()
