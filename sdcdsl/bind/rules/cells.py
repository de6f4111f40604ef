"""What a rule sees of the cells: plain arrays, wherever they came from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


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

    def shortfall(self, wanted: np.ndarray, there: np.ndarray) -> np.ndarray:
        """wanted - there where positive beyond rounding, else 0: ties are not sensitive."""
        missing = wanted - there
        return np.where(missing > 1e-12 * self.absolute, missing, 0.0)
