"""Makes the data of this example: invented enterprises of an invented country. The same seed gives the same files.

python examples/turnover/make_data.py [FOLDER]
"""

from __future__ import annotations

import csv
import random
import sys
from pathlib import Path

SEED = 2025
ENTERPRISES = 1600
NACE = {
    "B": ["05", "08"],
    "C": ["10", "13", "20", "25", "28"],
    "F": ["41", "43"],
    "G": ["45", "46", "47"],
    "I": ["55", "56"],
    "N": ["77", "81"],
}
NUTS = {"XA1": ["XA11", "XA12", "XA13"], "XA2": ["XA21", "XA22"], "XA3": ["XA31", "XA32", "XA33"]}
# How often a division occurs: mining is rare, trade is everywhere.
OFTEN = {"05": 0.15, "08": 0.6, "10": 4, "13": 1, "20": 0.8, "25": 4, "28": 2, "45": 4, "46": 5, "47": 9}
SIZES = {"0-9": (60, 3), "10-49": (25, 2), "50-249": (11, 1), "250+": (4, 1)}  # share, sampling weight
TYPICAL = {"0-9": 300.0, "10-49": 2_500.0, "50-249": 15_000.0, "250+": 90_000.0}  # thousand EUR


def enterprises() -> list[tuple]:
    """Turnover is skewed within each size; one large enterprise in three belongs to a holding."""
    draw = random.Random(SEED)
    divisions = [d for below in NACE.values() for d in below]
    regions = [r for below in NUTS.values() for r in below]
    rows = []
    for number in range(1, ENTERPRISES + 1):
        size = draw.choices(list(SIZES), [share for share, _ in SIZES.values()])[0]
        division = draw.choices(divisions, [OFTEN.get(d, 2) for d in divisions])[0]
        region = draw.choices(regions, [9, 4, 2, 6, 3, 5, 2, 1])[0]
        turnover = round(TYPICAL[size] * draw.lognormvariate(0, 0.9))
        holding = f"H{draw.randint(1, 40):02}" if size in ("50-249", "250+") and draw.random() < 0.35 else ""
        rows.append((f"XA-{number:07}", holding, SIZES[size][1], division, region, size, turnover))
    return rows


def tree(groups: dict[str, list[str]]) -> str:
    return "".join(f"{group}\n" + "".join(f"@{code}\n" for code in below) for group, below in groups.items())


def write(folder: Path) -> None:
    header = ("enterprise_id", "holding_id", "design_weight", "nace", "nuts", "size", "turnover")
    with (folder / "enterprises.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *enterprises()])
    (folder / "nace.hrc").write_text(tree(NACE), encoding="utf-8", newline="\n")
    (folder / "nuts.hrc").write_text(tree(NUTS), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    write(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent)
