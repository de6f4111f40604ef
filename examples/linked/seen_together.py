"""What readers know who have both released tables: a figure that one of them prints is hidden in neither.

python seen_together.py FOLDER    reads alone-by_activity.csv and alone-by_product.csv there, and writes seen-….csv
"""

from __future__ import annotations

import sys
from pathlib import Path

import polars as pl

TABLES = {"by_activity": ("nace", "C-I"), "by_product": ("product", "sales")}


def main(folder: Path) -> None:
    tables = {name: pl.read_csv(folder / f"alone-{name}.csv", infer_schema=False) for name in TABLES}
    # The tables share the line of regions: all activities together are all products together.
    lines = [tables[name].filter(pl.col(dim) == total).select("nuts", "value") for name, (dim, total) in TABLES.items()]
    printed = pl.concat(lines).drop_nulls().unique("nuts", maintain_order=True).rename({"value": "printed"})
    for name, (dim, total) in TABLES.items():
        known = pl.when(pl.col(dim) == total).then(pl.coalesce("value", "printed")).otherwise("value")
        seen = tables[name].join(printed, on="nuts", how="left", maintain_order="left").with_columns(value=known)
        seen.select(dim, "nuts", "value").write_csv(folder / f"seen-{name}.csv")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
