"""Makes the data of this example: invented power plants and what they produced. The same seed gives the same rows.

python examples/quarterly/make_data.py [FOLDER]
"""

from __future__ import annotations

import random
import sys
from pathlib import Path

SEED = 7
FUELS = {"fossil": ["coal", "gas", "oil"], "renewable": ["wind", "solar", "hydro", "tidal"]}
# How many plants, and what a plant makes in a typical quarter (GWh).
PLANTS = {
    "coal": (9, 420),
    "gas": (24, 150),
    "oil": (2, 6),
    "wind": (40, 28),
    "solar": (31, 9),
    "hydro": (12, 60),
    "tidal": (2, 2),
}
SEASON = {"wind": (1.3, 0.9, 0.7, 1.2), "solar": (0.5, 1.4, 1.6, 0.5)}


def output() -> list[tuple[str, str, str, float]]:
    """Plant, fuel, quarter, GWh."""
    draw = random.Random(SEED)
    rows = []
    for fuel, (count, typical) in PLANTS.items():
        for number in range(1, count + 1):
            capacity = typical * draw.uniform(0.6, 1.5)
            for quarter, factor in enumerate(SEASON.get(fuel, (1.0, 1.0, 1.0, 1.0)), start=1):
                made = round(capacity * factor * draw.uniform(0.9, 1.1), 1)
                rows.append((f"{fuel}-{number:02}", fuel, f"Q{quarter}", made))
    return rows


def write(folder: Path) -> None:
    import polars as pl  # noqa: PLC0415

    frame = pl.DataFrame(output(), schema=["plant", "fuel", "quarter", "output"], orient="row")
    frame.write_parquet(folder / "plants.parquet")
    lines = [line for group, below in FUELS.items() for line in (group, *(f"@{fuel}" for fuel in below))]
    (folder / "fuel.hrc").write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")


if __name__ == "__main__":
    write(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent)
