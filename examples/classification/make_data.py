"""Makes the data of this example: enterprises with four-digit activities, and what the codes are called.

python examples/classification/make_data.py [FOLDER]
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import polars as pl

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from examples.generator import Draws

SECTIONS = {
    "B-I": ("All activities", "Alle Bereiche"),
    "C": ("Manufacturing", "Verarbeitendes Gewerbe"),
    "G": ("Trade", "Handel"),
    "I": ("Hospitality", "Gastgewerbe"),
}
DIVISIONS = {
    "10": ("C", "Food products", "Nahrungsmittel"),
    "13": ("C", "Textiles", "Textilien"),
    "25": ("C", "Metal products", "Metallerzeugnisse"),
    "45": ("G", "Motor vehicles", "Kraftfahrzeuge"),
    "46": ("G", "Wholesale", "Großhandel"),
    "47": ("G", "Retail", "Einzelhandel"),
    "55": ("I", "Accommodation", "Beherbergung"),
    "56": ("I", "Food service", "Gastronomie"),
}
ENTERPRISES = 150


def write(folder: Path) -> None:
    draws = Draws(4)
    classes = [f"{division}.{digit}{last}" for division in DIVISIONS for digit in (1, 2) for last in (1, 9)]
    rows = [(code, code[:2], DIVISIONS[code[:2]][0]) for code in classes]
    tree = pl.DataFrame(rows, schema=["class", "division", "section"], orient="row")
    tree.select("section", "division", "class").write_csv(folder / "activity.csv")
    named = SECTIONS | {code: names for code, (_, *names) in DIVISIONS.items()}
    labels = pl.DataFrame([(code, *names) for code, names in named.items()], schema=["code", "en", "de"], orient="row")
    labels.write_csv(folder / "labels.csv")
    chosen = np.minimum((draws.uniform(ENTERPRISES) ** 1.6 * len(classes)).astype(int), len(classes) - 1)
    frame = pl.DataFrame(
        {
            "id": [f"E{i:04d}" for i in range(ENTERPRISES)],
            "activity": [classes[i] for i in chosen],
            "region": [("N", "S", "W")[int(i)] for i in draws.uniform(ENTERPRISES) ** 1.5 * 3],
            "turnover": np.rint(np.exp(4 + 1.8 * draws.normal(ENTERPRISES))).astype(int) + 1,
        }
    )
    frame.write_csv(folder / "enterprises.csv")


if __name__ == "__main__":
    write(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent)
