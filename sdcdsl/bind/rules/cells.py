"""What a rule sees of the cells: plain arrays, wherever they came from. And what it says about them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Judgement:
    """Sensitive cells and the slack each needs below and above its value; zero where not sensitive."""

    sensitive: np.ndarray  # bool [cell]
    lower: np.ndarray  # lpl asked for
    upper: np.ndarray  # upl asked for


@dataclass(frozen=True, eq=False)
class RuleCells:
    """Contributors are holdings where the data declares them, and never those who waived their protection.

    Negative contributions: every quantity about contributions is in absolute terms, X = Σ |contribution| included. A
    contributor of -90 beside one of +100 gives 190, not 10: the net value says nothing about who can be estimated.

    Weights: contributions are weighted sums, so a sampled contributor counts w times in X and in the remainder. With
    own (unweighted) values in `largest`, the w - 1 others it stands for belong to the remainder too.
    """

    value: np.ndarray  # a, as published
    count: np.ndarray  # contributors, those of zero included
    nonzero: np.ndarray  # contributors of something else than zero
    absolute: np.ndarray  # X = Σ |contribution|
    largest: np.ndarray  # [cell, k]: the k largest |contribution|, descending, 0 where there are fewer
    requested: np.ndarray | None = None  # the largest |contribution| of somebody who asked for protection
    frequency: bool = False  # the value is the number of contributors
    group: np.ndarray | None = None  # how many the group of each cell has, in tables that say what is an attribute

    def top(self, n: int) -> np.ndarray:
        """x_1 + … + x_n."""
        known = self.largest.shape[1]
        assert n <= known, f"the {n} largest contributions are needed, {known} are known"
        return self.largest[:, :n].sum(axis=1)

    def remainder(self, n: int) -> np.ndarray:
        """X - x_1 - … - x_n: what all but the n largest contribute; exactly zero when there are no others."""
        rest = np.maximum(self.absolute - self.top(n), 0.0)
        # Sums in another order leave 1e-13 of a remainder where there is none. (Own values leave a true one.)
        return np.where(rest <= 1e-12 * self.absolute, 0.0, rest)

    def shortfall(self, required: np.ndarray, there: np.ndarray) -> np.ndarray:
        """wanted - there where positive beyond rounding, else 0: ties are not sensitive."""
        missing = required - there
        return np.where(missing > 1e-12 * self.absolute, missing, 0.0)

    def judged(self, sensitive: np.ndarray, lower: np.ndarray | float, upper: np.ndarray | float) -> Judgement:
        """Sensitive where said, with these levels below and above the value."""
        return Judgement(sensitive, np.where(sensitive, lower, 0.0), np.where(sensitive, upper, 0.0))

    def judged_by_level(self, level: np.ndarray) -> Judgement:
        """Sensitive where a level is required, as much below as above."""
        return Judgement(level > 0, level, level)


def malformed(judgement: object, n: int) -> str | None:
    """What is wrong with the form of what a rule said about so many cells, in words."""
    if not isinstance(judgement, Judgement):
        return f"returns a {type(judgement).__name__}, and not what `cells.judged(…)` makes"
    arrays = (judgement.sensitive, judgement.lower, judgement.upper)
    if any(np.shape(array) != (n,) for array in arrays):
        return f"does not judge each of the {n:,} cells"
    if judgement.sensitive.dtype != bool:
        return "says of cells something else than whether they are sensitive"
    slack = np.concatenate([judgement.lower, judgement.upper])
    return None if (np.isfinite(slack) & (slack >= 0)).all() else "asks for a level that is below zero or not finite"


def combined(judgements: Sequence[Judgement]) -> Judgement:
    """Sensitive by any of them, with the largest level any of them requires."""
    return Judgement(
        np.logical_or.reduce([j.sensitive for j in judgements]),
        np.maximum.reduce([j.lower for j in judgements]),
        np.maximum.reduce([j.upper for j in judgements]),
    )
