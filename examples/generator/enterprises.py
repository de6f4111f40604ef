"""An economy of invented enterprises: a record each, with activity, region, size, holding, design weight and measures.

What the tables of real enterprises are like is kept: most firms are tiny and a few are very large (employees follow a
power law, turnover per head a lognormal one); activities concentrate in some regions and are absent from others; a few
firms dominate where they are; large firms belong to holdings whose members work in several activities; small firms are
sampled, and stand for others; turnover and investment go with employees.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from examples.generator.draws import Array, Draws
from examples.generator.trees import Tree, activities, regions

# By section: how common it is, turnover per head (thousand EUR), investment as a share of turnover.
CHARACTER: dict[str, tuple[float, float, float]] = {
    "B": (0.4, 260, 0.11),
    "C": (10, 190, 0.05),
    "D": (0.5, 620, 0.14),
    "E": (0.8, 150, 0.12),
    "F": (12, 120, 0.03),
    "G": (24, 310, 0.02),
    "H": (7, 130, 0.07),
    "I": (11, 55, 0.05),
    "J": (8, 140, 0.05),
    "L": (6, 180, 0.20),
    "M": (13, 95, 0.03),
    "N": (8, 75, 0.06),
}
SIZES = ("0-9", "10-49", "50-249", "250+")
MOST_EMPLOYEES = 20_000


@dataclass(frozen=True)
class Economy:
    """What is made. The same parameters give the same records on every machine."""

    seed: int = 1
    enterprises: int = 5_000
    activity: Tree = field(default_factory=activities)
    region: Tree = field(default_factory=regions)
    tail: float = 1.0  # of employees: 1 in 10 ** tail has ten times as many; smaller is more skewed
    spread: float = 0.6  # of turnover per head: the standard deviation of its logarithm
    unevenness: float = 0.8  # the same, of how often an activity occurs in a region
    gaps: float = 0.15  # share of the pairs of activity and region that do not occur at all
    dominant: int = 8  # firms that are fifteen times as large as others of their kind
    holdings: int = 60
    membership: tuple[float, ...] = (0.004, 0.05, 0.25, 0.45)  # by size: how likely an enterprise belongs to one
    weights: tuple[int, ...] = (4, 2, 1, 1)  # by size: how many enterprises a record stands for

    def frame(self) -> pl.DataFrame:
        draws, n = Draws(self.seed), self.enterprises
        activity, region = self._places(draws)
        employees = self._employees(draws)
        size = np.searchsorted((10, 50, 250), employees, side="right")
        section = self._sections()[activity]
        heads, rates = (np.array([row[k] for row in CHARACTER.values()], float)[section] for k in (1, 2))
        turnover = np.maximum(np.rint(employees * heads * np.exp(self.spread * draws.normal(n))), 1)
        investment = np.rint(turnover * rates * np.exp(0.8 * draws.normal(n)))
        investment[draws.chance(np.array([0.4, 0.15, 0.02, 0.0])[size], n)] = 0
        columns: dict[str, Any] = {
            "enterprise_id": pl.Series(np.arange(1, n + 1)).cast(pl.String).str.zfill(7).str.replace("^", "XA-"),
            "holding_id": self._holdings(draws, size),
            "design_weight": np.array(self.weights)[size],
            "nace": _named(self.activity.leaves, activity),
            "nuts": _named(self.region.leaves, region),
            "size": _named(SIZES, size),
            "employees": employees.astype(np.int64),
            "turnover": turnover.astype(np.int64),
            "investment": investment.astype(np.int64),
        }
        return pl.DataFrame(columns)

    def write(self, folder: Path, *columns: str, file: str = "enterprises.csv") -> None:
        """The records (these columns of them, or all) and the two classifications."""
        frame = self.frame()
        frame.select(columns or frame.columns).write_csv(folder / file)
        self.activity.write(folder / "nace.hrc")
        self.region.write(folder / "nuts.hrc")

    # ---- parts ------------------------------------------------------------------------------------------

    def _sections(self) -> Array:
        """Of each activity, the number of its section."""
        names = list(CHARACTER)
        return np.array([names.index(self.activity.path(leaf)[-2]) for leaf in self.activity.leaves])

    def _places(self, draws: Draws) -> tuple[Array, Array]:
        """Activity and region of each enterprise."""
        section = self._sections()
        common = np.array([row[0] for row in CHARACTER.values()])[section] / np.bincount(section)[section]
        common = common * (0.2 + draws.uniform(len(section)))
        peopled = 0.15 + draws.uniform(len(self.region.leaves)) ** 2
        pairs = len(common) * len(peopled)
        affinity = np.exp(self.unevenness * draws.normal(pairs)) * ~draws.chance(self.gaps, pairs)
        chosen = draws.choice(np.outer(common, peopled).ravel() * affinity, self.enterprises)
        return chosen // len(peopled), chosen % len(peopled)

    def _employees(self, draws: Draws) -> Array:
        n = self.enterprises
        employees = np.floor(draws.uniform(n) ** (-1 / self.tail))
        giants = draws.choice(np.minimum(employees, 60), self.dominant)
        employees[giants] *= 15
        return np.minimum(employees, MOST_EMPLOYEES)

    def _holdings(self, draws: Draws, size: Array) -> pl.Series:
        """A name, or nothing. A few holdings are large; one with a single member is none."""
        n = self.enterprises
        number = np.floor(self.holdings * draws.uniform(n) ** 1.5).astype(np.int64)
        member = draws.chance(np.array(self.membership)[size], n)
        member &= np.bincount(number[member], minlength=self.holdings)[number] > 1
        names = pl.Series([f"H{k:04}" for k in range(1, self.holdings + 1)])
        return pl.select(pl.when(pl.Series(member)).then(names.gather(number))).to_series()


def _named(codes: tuple[str, ...] | list[str], at: Array) -> pl.Series:
    return pl.Series(codes).gather(at)
