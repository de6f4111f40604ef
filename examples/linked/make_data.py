"""Makes the data of this example: what invented enterprises sold, by product. The same seed gives the same files.

python examples/linked/make_data.py [FOLDER]
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import polars as pl

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from examples.generator import Draws, Economy, Tree, activities, regions

SEED = 9
ECONOMY = Economy(
    seed=SEED,
    enterprises=500,
    activity=activities("CFGHI", divisions=0, groups=0, total="C-I"),
    region=regions((6,)),
    dominant=6,
)
PRODUCT = Tree(
    "sales",
    {
        "sales": ("goods", "services"),
        "goods": ("food", "machines", "materials"),
        "services": ("building", "trade", "transport", "lodging", "advice"),
    },
)
# What an enterprise of each section mostly sells; one line in four is something else.
MAINLY = {
    "C": ("food", "machines", "materials"),
    "F": ("building",),
    "G": ("trade",),
    "H": ("transport",),
    "I": ("lodging",),
}


def lines() -> pl.DataFrame:
    """One or two lines an enterprise: its main product, and for every third something that it sells besides."""
    firms, draws = ECONOMY.frame(), Draws(SEED + 1)
    n, products = len(firms), PRODUCT.leaves
    section = [ECONOMY.activity.path(code)[-2] for code in firms["nace"]]
    pick = draws.uniform(n)
    main = [MAINLY[s][int(u * len(MAINLY[s]))] for s, u in zip(section, pick, strict=True)]
    other = draws.choice([1.0] * len(products), n)
    part = np.where(draws.chance(1 / 3, n), 0.05 + 0.4 * draws.uniform(n), 0.0)
    besides = np.rint(firms["turnover"].to_numpy() * part).astype(np.int64)
    firms = firms.select("enterprise_id", "nace", "nuts", "turnover")
    first = firms.with_columns(pl.Series("turnover", firms["turnover"].to_numpy() - besides), product=pl.Series(main))
    second = firms.with_columns(pl.Series("turnover", besides), product=pl.Series(products).gather(other))
    both = pl.concat([first, second.filter(pl.col("turnover") > 0)])
    return both.sort("enterprise_id", maintain_order=True).select(
        "enterprise_id", "nace", "product", "nuts", "turnover"
    )


def write(folder: Path) -> None:
    lines().write_csv(folder / "lines.csv")
    ECONOMY.activity.write(folder / "nace.hrc")
    ECONOMY.region.write(folder / "nuts.hrc")
    PRODUCT.write(folder / "product.hrc")


if __name__ == "__main__":
    write(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent)
