"""Makes the data of this example: 5 000 invented enterprises. The same seed gives the same files.

python examples/enterprises/make_data.py [FOLDER]
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from examples.generator import Economy, activities, regions

ECONOMY = Economy(
    seed=8,
    enterprises=5_000,
    activity=activities("CFGHIMN", divisions=3, groups=0, total="C-N"),
    region=regions((3, 3)),
)


def write(folder: Path) -> None:
    ECONOMY.write(folder)


if __name__ == "__main__":
    write(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent)
