"""What the experiments found: the distribution of the attacker's error in the classes of paper 002, and a verdict.

The error of a cell is |â_i - a_i| / |a_i| in per cent, over all cells with a level and all replications. The paper
calls a scenario safe if no value is recomputed and the distribution does not crowd at small errors. Here a scenario is
*at risk* if more than `RECOMPUTED` of the errors are nothing, if more than `MOST` of the guesses miss the truth by less
than half of what the protection levels require, or if more than `NEARLY_ALL` miss it by less than the levels.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sdcdsl.vocabulary.methods import EXPERIMENTS

ENDS = (5.0, 10.0, 20.0, 30.0, 50.0, 100.0)  # per cent
CLASSES = ("0", "(0,5]", "(5,10]", "(10,20]", "(20,30]", "(30,50]", "(50,100]", ">100")
NOTHING = 1e-3  # per cent: the value was recomputed
RECOMPUTED, MOST, NEARLY_ALL = 0.01, 0.5, 0.9
SAFE, AT_RISK = "safe", "at risk"
UNDONE = "nothing to say"
# What is known of tables adjusted to be as near as possible (paper 002, Tables 6 to 9).
BREAKING = ("B3", "C")


@dataclass(frozen=True, eq=False)
class Trial:
    """One experiment in one norm."""

    experiment: str
    norm: str
    cells: np.ndarray  # int64 [p]: cells with a level
    errors: np.ndarray  # [replication, p], per cent; inf: the true value is zero and the guess is not
    shortness: np.ndarray  # [replication, p]: the error as a share of the level on its side
    soft: int = 0  # replications whose guesses fit no table, so that bounds were soft
    failed: int = 0  # replications without an answer: no part of the figures

    @property
    def replications(self) -> int:
        return len(self.errors)

    @cached_property
    def counts(self) -> np.ndarray:
        """int [class]: errors in each class of `CLASSES`."""
        errors = self.errors.ravel()
        at = np.searchsorted(ENDS, errors, side="left") + 1
        return np.bincount(np.where(errors < NOTHING, 0, at), minlength=len(CLASSES))

    @property
    def shares(self) -> np.ndarray:
        """The same in per cent."""
        return 100 * self.counts / max(self.errors.size, 1)

    @property
    def mean(self) -> float:
        """Of errors that are finite."""
        finite = self.errors[np.isfinite(self.errors)]
        return float(finite.mean()) if finite.size else 0.0

    @property
    def median(self) -> float:
        return float(np.median(self.errors)) if self.errors.size else 0.0

    @property
    def recomputed(self) -> float:
        """Share of the guesses that are the true value."""
        return float(self.counts[0]) / max(self.errors.size, 1)

    @property
    def within(self) -> float:
        """Share of the guesses that are nearer than the level."""
        return self._missing_by_less_than(1.0)

    @property
    def close(self) -> float:
        """Share of the guesses that miss by less than half of the level."""
        return self._missing_by_less_than(0.5)

    def _missing_by_less_than(self, share: float) -> float:
        return float((self.shortness < share * (1 - 1e-9)).mean()) if self.shortness.size else 0.0

    @property
    def verdict(self) -> str:
        if not self.errors.size:
            return UNDONE
        return AT_RISK if self._risks() else SAFE

    def _risks(self) -> list[str]:
        exact, close, within = (percent(share) for share in (self.recomputed, self.close, self.within))
        found = [
            (self.recomputed > RECOMPUTED, f"{exact} of the sensitive values are recomputed exactly"),
            (self.close > MOST, f"{close} of the guesses miss by less than half of the protection levels"),
            (self.within > NEARLY_ALL, f"{within} of the guesses are nearer to the truth than the protection levels"),
        ]
        return [what for risky, what in found if risky]

    @property
    def why(self) -> str:
        if not self.errors.size:
            return "no cell has a level" if not len(self.cells) else "no attacker problem was solved"
        risks = self._risks()
        if risks:
            return risks[0]
        return self.harmless()

    def harmless(self, most: str = "") -> str:
        exactly = "no value is" if not self.counts[0] else f"{most}{percent(self.recomputed)} of the values are"
        return (
            f"{exactly} recomputed; {most}{percent(self.within)} of the guesses are nearer than the protection levels"
        )

    def as_json(self) -> dict[str, Any]:
        return {
            "experiment": self.experiment,
            "norm": self.norm,
            "replications": self.replications,
            "cells": len(self.cells),
            "classes": dict(zip(CLASSES, (round(float(share), 3) for share in self.shares), strict=True)),
            "mean_error": round(self.mean, 6),
            "median_error": round(self.median, 6) if np.isfinite(self.median) else None,
            "recomputed": round(100 * self.recomputed, 3),
            "within_level": round(100 * self.within, 3),
            "within_half_level": round(100 * self.close, 3),
            "soft_replications": self.soft,
            "failed_replications": self.failed,
            "verdict": self.verdict,
            "why": self.why,
        }


@dataclass(frozen=True, eq=False)
class Assessment:
    name: str  # of the protect block
    trials: tuple[Trial, ...]
    seed: int
    options: dict[str, Any]
    beta: float  # the largest relative deviation: how far from x the attackers look for a
    complete: bool = True  # False: the time was over before all replications were done

    @property
    def verdict(self) -> str:
        """The worst of all experiments. What was not tried to the end is not safe."""
        found = {trial.verdict for trial in self.trials}
        if AT_RISK in found:
            return AT_RISK
        return SAFE if found == {SAFE} and self.complete else UNDONE

    @property
    def reasons(self) -> list[str]:
        """Why, in sentences: what decides, then what nobody should overlook."""
        risky = [t for t in self.trials if t.verdict == AT_RISK]
        names = dict.fromkeys(t.experiment for t in risky)
        worst_of_each = [max((t for t in risky if t.experiment == name), key=_danger) for name in names]
        out = [f"{t.experiment}: {EXPERIMENTS[t.experiment].about}: {t.why}" for t in worst_of_each]
        if not risky and self.trials:
            worst = max(self.trials, key=_danger)
            ran = dict.fromkeys(t.experiment for t in self.trials if t.errors.size)
            several = len(self.trials) > 1 and worst.errors.size
            out = [f"{', '.join(ran) or 'nothing ran'}: {worst.harmless('at most ') if several else worst.why}"]
        left = [name for name in BREAKING if name not in {t.experiment for t in self.trials}]
        if left and not risky:
            out.append(f"{' and '.join(left)} {'was' if len(left) == 1 else 'were'} not run. {KNOWN_TO_BREAK}")
        elif names.keys() & set(BREAKING):
            out.append(KNOWN_TO_BREAK)
        if not self.complete:
            out.append("the time was over before all replications were done")
        return out

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "verdict": self.verdict,
            "reasons": self.reasons,
            "seed": self.seed,
            "options": dict(self.options),
            "largest_relative_deviation": self.beta,
            "complete": self.complete,
            "experiments": [trial.as_json() for trial in self.trials],
        }


KNOWN_TO_BREAK = (
    "Tables that are as near as possible to the truth are mostly recomputed by whoever knows senses and levels (B3), or"
    " all bounds (C): that holds for controlled tabular adjustment as such. Keep levels and senses secret, or take a"
    " method with a proven region"
)


def percent(share: float) -> str:
    figure = 100 * share
    return f"{figure:.0f} %" if figure >= 10 or figure == 0 else f"{figure:.2g} %"


def _danger(trial: Trial) -> tuple[float, float, float]:
    return trial.recomputed, trial.close, trial.within
