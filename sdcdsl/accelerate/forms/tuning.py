"""What the search over mixtures of forms was tuned with, and on which tables."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Tuning:
    # The relaxation and the mixed-integer problems: `rounding-network` and `perturb` of benchmarks/scaling.py, and the
    # tables of benchmarks/rounding.py.
    brief: float = 2.0  # seconds for a first mixed-integer problem: what it finds may need cuts
    slice: float = 0.3  # of the time that is left, at most: the same while cuts come
    # Where none came the next one is the same, starts from nothing, and has to come further than the last: so many
    # times as long, within this share of the time that is left.
    longer: float = 8.0
    long_slice: float = 0.8
    narrower: float = (
        1e-3  # less than the gap required, at most by half of it: what is published may cost a little more
    )
    rounds: int = 60  # of the relaxation
    progress: float = 1e-4  # a relative step of the bound below which the relaxation has done what it can
    # Witnesses: `rounding-counts` of 3 375 and 97 336 cells.
    boxed_from: int = 500_000  # levels times classes; below, attacks take moments


TUNING = Tuning()
