"""Runs the experiments: for every experiment and norm, replications of the attacker's problem."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from sdcdsl.bind.naming import cells as counted
from sdcdsl.bind.problem import TableProblem
from sdcdsl.methods.cta.adjustment import Adjustment
from sdcdsl.methods.result import Clock
from sdcdsl.risk.assessment import Assessment, Trial
from sdcdsl.risk.attacker import Attacker
from sdcdsl.risk.soft import Closest
from sdcdsl.vocabulary.methods import EXPERIMENTS

DEFAULTS: dict[str, Any] = {"replications": 10, "delta": 0.2, "norm": "L1", "soft": 1000.0}


def assess(
    problem: TableProblem,
    v: np.ndarray,
    experiments: Sequence[str],
    options: dict[str, Any] | None = None,
    seed: int = 0,
    *,
    clock: Clock | None = None,
    progress: Callable[[int, int], None] | None = None,
    made: Adjustment | None = None,
) -> Assessment:
    """`v` are the released values; `options` those of `assess` as plain values, with one norm or several; `made` says
    more about how the table was made than the problem does (cells that had to stay, limits of adjustment)."""
    chosen = {**DEFAULTS, **(options or {})}
    norms = (chosen["norm"],) if isinstance(chosen["norm"], str) else tuple(chosen["norm"])
    unknown = [name for name in experiments if name not in EXPERIMENTS]
    if unknown:
        raise ValueError(f"there is no experiment {unknown[0]}")
    clock = clock or Clock()
    attacker = Attacker(problem, v, float(chosen["delta"]), seed, made)
    total = len(norms) * len(experiments) * int(chosen["replications"])
    trials: list[Trial] = []
    done = 0
    for norm in norms:
        closest = Closest(attacker.made.M, norm, float(chosen["soft"]))
        for experiment in experiments:
            runs = _Runs(attacker, experiment, norm)
            for replication in range(int(chosen["replications"])):
                if clock.over or not len(attacker.cells):
                    break
                runs.add(closest, replication, clock)
                done += 1
                if progress is not None:
                    progress(done, total)
            trials.append(runs.trial())
    used = {**{name: chosen[name] for name in ("replications", "delta", "soft")}, "norm": list(norms)}
    complete = done == total or not len(attacker.cells)
    return Assessment(problem.name, tuple(trials), seed, used, attacker.beta, complete)


def unfit(problem: TableProblem, v: np.ndarray) -> str | None:
    """Why there is nothing to undo in this table; None if there is."""
    d = problem.dataset
    published, a = d["published"].values, d["a"].values
    asked = np.unique(d["cell_at"].values[(d["lpl"].values > 0) | (d["upl"].values > 0)])
    if not len(asked):
        return "no cell has a level"
    silent = asked[np.isnan(v[asked]) & published[asked]]
    if len(silent):
        return f"{counted(silent)} with a level {'has' if len(silent) == 1 else 'have'} no value in it"
    seen = published & ~np.isnan(v)
    if np.array_equal(v[seen], a[seen]):
        return "every value in it is the true one"
    return None


class _Runs:
    """The replications of one experiment in one norm."""

    def __init__(self, attacker: Attacker, experiment: str, norm: str):
        self.attacker, self.experiment, self.norm = attacker, experiment, norm
        self.errors: list[np.ndarray] = []
        self.shortness: list[np.ndarray] = []
        self.soft = self.failed = 0

    def add(self, closest: Closest, replication: int, clock: Clock) -> None:
        found = closest.solve(self.attacker.guess(self.experiment, self.norm, replication), clock)
        if found.z is None:
            self.failed += 1
            return
        self.soft += found.soft
        cells = self.attacker.cells
        a, guess = self.attacker.a[cells], (self.attacker.x - found.z)[cells]
        off, (lpl, upl) = guess - a, self.attacker.level
        with np.errstate(divide="ignore", invalid="ignore"):
            self.errors.append(np.where(off == 0, 0.0, 100 * np.abs(off) / np.abs(a)))
        self.shortness.append(np.abs(off) / np.where(off < 0, lpl, upl))

    def trial(self) -> Trial:
        shape = (len(self.errors), len(self.attacker.cells))
        errors, shortness = (np.array(x, dtype=float).reshape(shape) for x in (self.errors, self.shortness))
        return Trial(self.experiment, self.norm, self.attacker.cells, errors, shortness, self.soft, self.failed)
