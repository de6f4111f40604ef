"""Makes the data of this example: the same invented enterprises in two quarters. The same seed gives the same files.

python examples/series/make_data.py [FOLDER]
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import polars as pl

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from examples.generator import Draws, Economy, activities, regions

SEED = 1
ECONOMY = Economy(
    seed=SEED,
    enterprises=1_500,
    activity=activities("CFGHI", divisions=2, groups=0, total="C-I"),
    region=regions((3, 2)),
    dominant=4,
)
BIRTHS = DEATHS = 0.03  # of the enterprises, from one quarter to the next
CHANGE = 0.2  # standard deviation of the logarithm of turnover against the quarter before


def quarters() -> tuple[pl.DataFrame, pl.DataFrame]:
    firms, draws = ECONOMY.frame(), Draws(SEED + 1)
    n = len(firms)
    born, died = draws.chance(BIRTHS, n), draws.chance(DEATHS, n)
    now = np.maximum(np.rint(firms["turnover"].to_numpy() * np.exp(CHANGE * draws.normal(n))), 1).astype(np.int64)
    firms = firms.select("enterprise_id", "nace", "nuts", "turnover")
    return firms.filter(~born), firms.with_columns(pl.Series("turnover", now)).filter(~died)


def write(folder: Path) -> None:
    for name, frame in zip(("q1.csv", "q2.csv"), quarters(), strict=True):
        frame.write_csv(folder / name)
    ECONOMY.activity.write(folder / "nace.hrc")
    ECONOMY.region.write(folder / "nuts.hrc")


if __name__ == "__main__":
    write(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent)
