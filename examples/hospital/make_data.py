"""Makes the data of this example: invented patients of five hospitals. The same seed gives the same files.

python examples/hospital/make_data.py [FOLDER]
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import polars as pl

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from examples.generator import Draws, Tree

SEED = 3
PATIENTS = 2_400
DIAGNOSIS = Tree(
    "all",
    {"all": ("C", "I", "J", "O"), "C": ("C18", "C34", "C50"), "I": ("I20", "I50", "I63")}
    | {"J": ("J18", "J44"), "O": ("O24", "O80")},
)
HOSPITAL = Tree("country", {"country": ("north", "south"), "north": ("N1", "N2", "N3"), "south": ("S1", "S2")})
AGES = ("0-14", "15-44", "45-64", "65+")
BUSY = (10, 3, 1, 7, 2)  # by hospital
# How common a diagnosis is, by age. Zeros are what cannot be: nobody is pregnant before 15 or after 64.
COMMON = {
    "C18": (0, 1, 5, 12),
    "C34": (0, 1, 6, 9),
    "C50": (0, 3, 9, 8),
    "I20": (0, 2, 12, 22),
    "I50": (1, 1, 8, 30),
    "I63": (0, 1, 6, 20),
    "J18": (9, 6, 9, 24),
    "J44": (0, 1, 8, 16),
    "O24": (0, 6, 1, 0),
    "O80": (0, 40, 1, 0),
}


def patients() -> pl.DataFrame:
    draws = Draws(SEED)
    shares = np.einsum("da,h->dha", np.array(list(COMMON.values()), float), np.array(BUSY, float))
    skill = np.exp(0.5 * draws.normal(shares.shape[0] * shares.shape[1])).reshape(*shares.shape[:2], 1)
    at = draws.choice((shares * skill).ravel(), PATIENTS)
    diagnosis, hospital, age = np.unravel_index(at, shares.shape)
    return pl.DataFrame(
        {
            "diagnosis": pl.Series(list(COMMON)).gather(diagnosis),
            "hospital": pl.Series(HOSPITAL.leaves).gather(hospital),
            "age": pl.Series(AGES).gather(age),
        }
    )


def write(folder: Path) -> None:
    patients().write_csv(folder / "patients.csv")
    DIAGNOSIS.write(folder / "diagnosis.hrc")
    HOSPITAL.write(folder / "hospital.hrc")


if __name__ == "__main__":
    write(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent)
