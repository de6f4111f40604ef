"""Makes invented enterprises, as many as you like: enterprises.csv, nace.hrc and nuts.hrc.

python examples/generator/make_data.py FOLDER [--enterprises 1000000] [--seed 1]
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from examples.generator import Economy


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--enterprises", type=int, default=5_000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    Economy(seed=given.seed, enterprises=given.enterprises).write(given.folder)


if __name__ == "__main__":
    main()
