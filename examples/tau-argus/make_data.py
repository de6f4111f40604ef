"""Makes the data of this example: microdata of τ-ARGUS in fixed columns, and the hierarchy of regions.

python examples/tau-argus/make_data.py [FOLDER]
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from examples.generator import Draws

REGIONS = {"Nr": ("N1", "N2"), "Os": ("O1", "O2"), "We": ("W1", "W2", "W3")}
ACTIVITIES = ("111", "112", "121", "211", "212", "311")
SIZES = ("2", "4", "9")
ENTERPRISES = 500


def write(folder: Path) -> None:
    draws = Draws(9)
    leaves = [leaf for parts in REGIONS.values() for leaf in parts]
    places = (draws.uniform(ENTERPRISES) ** 1.4 * len(leaves)).astype(int)
    activities = (draws.uniform(ENTERPRISES) ** 1.7 * len(ACTIVITIES)).astype(int)
    sizes = (draws.uniform(ENTERPRISES) ** 2 * len(SIZES)).astype(int)
    turnover = np.minimum(np.rint(np.exp(4.5 + 1.5 * draws.normal(ENTERPRISES))), 99_999).astype(int) + 1
    lines = (
        f"{ACTIVITIES[a]} {leaves[p]} {SIZES[s]} {t:6d}\n"
        for a, p, s, t in zip(activities, places, sizes, turnover, strict=True)
    )
    (folder / "turnover.asc").write_text("".join(lines), encoding="utf-8", newline="\n")
    tree = (f"{code}\n" + "".join(f".{part}\n" for part in parts) for code, parts in REGIONS.items())
    (folder / "region.hrc").write_text("".join(tree), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    write(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent)
