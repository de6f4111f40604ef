"""Runs the experiments: for every experiment and norm, replications of the attacker's problem."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from sdcdsl.bind.naming import cells as counted
from sdcdsl.bind.problem import TableProblem
from sdcdsl.deadline import Deadline
from sdcdsl.executing import SERIAL, Channel, Tally, Team, in_order
from sdcdsl.methods.cta.adjustment import Adjustment
from sdcdsl.risk.assessment import Assessment, Trial
from sdcdsl.risk.attacker import Attacker
from sdcdsl.risk.attacker_problem import AttackerProblem, AttackerSolution
from sdcdsl.vocabulary.methods import EXPERIMENTS

DEFAULTS: dict[str, Any] = {"replications": 10, "delta": 0.2, "norm": "L1", "soft": 1000.0}
PER_TASK = 10  # replications that are one task


def assess(
    problem: TableProblem,
    v: np.ndarray,
    experiments: Sequence[str],
    options: dict[str, Any] | None = None,
    seed: int = 0,
    *,
    deadline: Deadline | None = None,
    progress: Callable[[int, int], None] | None = None,
    made: Adjustment | None = None,
    team: Team = SERIAL,
) -> Assessment:
    """`v` are the released values; `options` those of `assess` as plain values, with one norm or several; `made` says
    more about how the table was made than the problem does (cells that had to stay, limits of adjustment)."""
    chosen = {**DEFAULTS, **(options or {})}
    norms = (chosen["norm"],) if isinstance(chosen["norm"], str) else tuple(chosen["norm"])
    unknown = [name for name in experiments if name not in EXPERIMENTS]
    if unknown:
        raise ValueError(f"there is no experiment {unknown[0]}")
    deadline = deadline or Deadline()
    attacker = Attacker(problem, v, float(chosen["delta"]), seed, made)
    replications = int(chosen["replications"])
    trials = [(experiment, norm) for norm in norms for experiment in experiments]
    parts = [
        (trial, range(first, min(first + PER_TASK, replications)))
        for trial in range(len(trials) if len(attacker.cells) else 0)
        for first in range(0, replications, PER_TASK)
    ]
    total = len(trials) * replications
    tally = Tally([len(part) for _, part in parts], progress)
    shared = team.share(attacker)
    calls = [
        (shared, *trials[trial], float(chosen["soft"]), part, deadline, Channel(tally.of(i)))
        for i, (trial, part) in enumerate(parts)
    ]
    runs = [Runs() for _ in trials]
    results = in_order(team, replicated, calls, over=lambda: deadline.expired)
    for (trial, _), found in zip(parts, results, strict=False):  # fewer, if the time is over
        runs[trial].add(found)
    found_trials = tuple(run.trial(attacker, *trial) for run, trial in zip(runs, trials, strict=True))
    used = {**{name: chosen[name] for name in ("replications", "delta", "soft")}, "norm": list(norms)}
    complete = sum(run.done for run in runs) == total or not len(attacker.cells)
    return Assessment(problem.name, found_trials, seed, used, attacker.beta, complete)


def unfit(problem: TableProblem, v: np.ndarray) -> str | None:
    """Why there is nothing to undo in this table; None if there is."""
    d = problem.dataset
    published, a = d["published"].values, d["a"].values
    with_level = np.unique(d["cell_at"].values[(d["lpl"].values > 0) | (d["upl"].values > 0)])
    if not len(with_level):
        return "no cell has a level"
    silent = with_level[np.isnan(v[with_level]) & published[with_level]]
    if len(silent):
        return f"{counted(silent)} with a level {'has' if len(silent) == 1 else 'have'} no value in it"
    seen = published & ~np.isnan(v)
    if np.array_equal(v[seen], a[seen]):
        return "every value in it is the true one"
    return None


def replicated(
    attacker: Attacker, experiment: str, norm: str, soft: float, part: range, deadline: Deadline, line: Channel
) -> Runs:
    """Some replications of one experiment in one norm, one after another on solvers that stay warm, in whatever
    process. What a solver finds may depend on where it stood: so it always begins anew with the first of them."""
    closest, runs = AttackerProblem(attacker.made.M, norm, soft), Runs()
    for replication in part:
        if deadline.expired:
            break
        runs.one(attacker, closest.solve(attacker.guess(experiment, norm, replication), deadline))
        line.say(runs.done)
    return runs


class Runs:
    """What came of replications of one experiment in one norm."""

    def __init__(self) -> None:
        self.errors: list[np.ndarray] = []
        self.shortness: list[np.ndarray] = []
        self.soft = self.failed = self.done = 0

    def one(self, attacker: Attacker, found: AttackerSolution) -> None:
        self.done += 1
        if found.z is None:
            self.failed += 1
            return
        self.soft += found.soft
        cells = attacker.cells
        a, guess = attacker.a[cells], (attacker.x - found.z)[cells]
        off, (lpl, upl) = guess - a, attacker.level
        with np.errstate(divide="ignore", invalid="ignore"):
            self.errors.append(np.where(off == 0, 0.0, 100 * np.abs(off) / np.abs(a)))
        self.shortness.append(np.abs(off) / np.where(off < 0, lpl, upl))

    def add(self, other: Runs) -> None:
        self.errors += other.errors
        self.shortness += other.shortness
        self.soft, self.failed, self.done = self.soft + other.soft, self.failed + other.failed, self.done + other.done

    def trial(self, attacker: Attacker, experiment: str, norm: str) -> Trial:
        shape = (len(self.errors), len(attacker.cells))
        errors, shortness = (np.array(x, dtype=float).reshape(shape) for x in (self.errors, self.shortness))
        return Trial(experiment, norm, attacker.cells, errors, shortness, self.soft, self.failed)
