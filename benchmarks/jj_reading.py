"""Reading a JJ file against plain Python splitting of the same lines, both in one run; the ratio should stay below 3.

    python benchmarks/jj_reading.py [FILE]

Without a file: cbs.jj of ../shared/data beside the repository.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

from sdcdsl.bind.readers.jj import read_jj

DEFAULT = Path(__file__).resolve().parents[1] / ".." / "shared" / "data" / "csplib" / "cbs.jj"
REPETITIONS = 15


def split_lines(path: Path) -> list[list[str]]:
    with path.open() as f:
        return [line.split() for line in f]


def best(work: Callable[[Path], object], path: Path) -> float:
    times = []
    for _ in range(REPETITIONS):
        start = time.perf_counter()
        work(path)
        times.append(time.perf_counter() - start)
    return min(times)


def main() -> int:
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else DEFAULT
    if not path.exists():
        print(f"{path.name} is not here: give the path of a JJ file")
        return 2
    table, problems = read_jj(path)
    if table is None:
        print(*problems, sep="\n")
        return 1
    splitting, reading = best(split_lines, path), best(read_jj, path)
    print(f"{path.name}: {len(table.index)} cells, {len(table.rhs)} relations, {len(table.cell_of)} entries")
    print(f"splitting {splitting * 1e3:.1f} ms, reading {reading * 1e3:.1f} ms, ratio {reading / splitting:.2f}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
