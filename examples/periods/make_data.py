"""Makes the data of this example: the same invented enterprises in three quarters. The same seed gives the same files.

python examples/periods/make_data.py [FOLDER]
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import polars as pl

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from examples.generator import Draws, Economy, activities, regions

ECONOMY = Economy(
    seed=3,
    enterprises=500,
    activity=activities("CFG", divisions=3, groups=0, total="C-G"),
    region=regions((3,)),
    dominant=2,
)
CHANGE = 0.2  # standard deviation of the logarithm of turnover against the quarter before


def write(folder: Path) -> None:
    firms = ECONOMY.frame().select("enterprise_id", "nace", "nuts", "turnover")
    draws = Draws(5)
    for quarter in (1, 2, 3):
        firms.write_csv(folder / f"enterprises-2026q{quarter}.csv")
        factor = np.exp(CHANGE * draws.normal(len(firms)))
        now = np.maximum(np.rint(firms["turnover"].to_numpy() * factor), 1).astype(np.int64)
        firms = firms.with_columns(pl.Series("turnover", now)).filter(~draws.chance(0.02, len(firms)))
    ECONOMY.activity.write(folder / "nace.hrc")
    ECONOMY.region.write(folder / "nuts.hrc")


if __name__ == "__main__":
    write(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent)
