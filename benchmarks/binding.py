"""What binding costs, as ratios measured in one run.

    python benchmarks/binding.py                       # the sizes promised: 5 million records, 1 million cells
    python benchmarks/binding.py --records 100000 --cells 20000 --repeat 1

1. Tabulating microdata over four hierarchical dimensions (counts and the two largest contributions per holding at every
   level) against a bare polars group-by of the same leaves (sum and count). Promise: at most 5 ×, under 4 GB.
   `--spread` says how holdings lie: `mixed` (four records in five are their own holding, the others belong to groups of
   skewed size, at random cells) or `random` (every record has a random holding, the hard case).
2. Building the relations of a 3-D table against scipy assembling the same CSR from ready COO arrays. Promise: 2 ×.
3. Reading a JJ file against plain Python splitting of the same lines. Promise: 3 ×. Without `--jj FILE` it takes cbs.jj
   from ../shared/data beside the repository, if that is there.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
from scipy.sparse import coo_matrix

from sdcdsl.bind.hierarchy import DimensionCodes, Tree
from sdcdsl.bind.lattice import lattice
from sdcdsl.bind.microdata import Columns
from sdcdsl.bind.readers.jj import read_jj
from sdcdsl.bind.relations import relations
from sdcdsl.bind.tabulate import tabulate

CBS = Path(__file__).resolve().parents[2] / "shared" / "data" / "csplib" / "cbs.jj"

# Codes a level below the total: activity, region, size, legal form.
LEVELS = {"nace": (16, 80), "nuts": (10, 40), "size": (3, 9), "form": (2, 6)}


def hierarchy(name: str, levels: tuple[int, ...]) -> DimensionCodes:
    """A total and evenly filled levels below it."""
    codes, parent = ["Total"], [-1]
    above = [0]
    for depth, n in enumerate(levels, 1):
        here = list(range(len(codes), len(codes) + n))
        codes += [f"{name}{depth}{i:05d}" for i in range(n)]
        parent += [above[i * len(above) // n] for i in range(n)]
        above = here
    tree = Tree(tuple(codes), np.array(parent, dtype=np.int32), np.ones(len(codes), dtype=np.int8))
    return DimensionCodes(name, tree.codes, (tree,))


def microdata(n: int, spread: str, text_ids: bool) -> pl.DataFrame:
    rng = np.random.default_rng(1)
    data = {}
    for name, levels in LEVELS.items():
        leaves = pl.Series([f"{name}{len(levels)}{i:05d}" for i in range(levels[-1])])
        data[name] = leaves.gather(pl.Series(rng.integers(0, levels[-1], n)))
    data["turnover"] = pl.Series(rng.lognormal(3, 2, n).round(2))
    data["weight"] = pl.Series(rng.choice([1.0, 1.0, 2.5, 10.0], n))
    if spread == "random":
        holding = rng.integers(0, max(1, n // 3), n)
    else:
        holding = np.arange(n)
        grouped = rng.random(n) < 0.2
        # Sizes from two to thousands: the group number is skewed towards zero.
        holding[grouped] = n + (rng.random(int(grouped.sum())) ** 3 * n / 25).astype(np.int64)
    ids = pl.Series(holding)
    data["holding"] = ids.cast(pl.String) if text_ids else ids
    return pl.DataFrame(data)


def measured(work: Callable[[], object], repeat: int) -> tuple[float, float]:
    """Best wall and best CPU seconds."""
    runs = []
    for _ in range(repeat):
        wall, cpu = time.perf_counter(), time.process_time()
        work()
        runs.append((time.perf_counter() - wall, time.process_time() - cpu))
    return min(r[0] for r in runs), min(r[1] for r in runs)


def report(what: str, ours: tuple[float, float], theirs: tuple[float, float], promise: float, judged: bool) -> None:
    wall, cpu = ours[0] / theirs[0], ours[1] / theirs[1]
    print(f"  {what}: wall {ours[0]:.3f} s / {theirs[0]:.3f} s = {wall:.2f} ×")
    print(f"  {' ' * len(what)}  CPU  {ours[1]:.3f} s / {theirs[1]:.3f} s = {cpu:.2f} ×")
    said = ", ".join(
        f"{clock} {'kept' if ratio <= promise else 'BROKEN'}" for clock, ratio in (("wall", wall), ("CPU", cpu))
    )
    print(f"  promise: at most {promise:g} × : {said if judged else 'not judged at this size'}")


def bench_tabulation(n: int, spread: str, text_ids: bool, repeat: int) -> None:
    frame = microdata(n, spread, text_ids)
    dims = [hierarchy(name, levels) for name, levels in LEVELS.items()]
    columns = Columns(tuple(LEVELS), "turnover", group="holding", weight="weight")

    def bare() -> object:
        return frame.group_by(list(LEVELS)).agg(pl.col("turnover").sum(), pl.len())

    def ours() -> object:
        table, found = tabulate(frame, dims, columns)
        assert table is not None, found
        return table

    cells = int(np.prod([len(d.codes) for d in dims]))
    print(f"tabulation: {n:,} records, {cells:,} cells, holdings {spread}{', text ids' if text_ids else ''}")
    report("tabulate / polars group-by", measured(ours, repeat), measured(bare, repeat), 5, n >= 5_000_000)


def bench_relations(cells: int, repeat: int) -> None:
    side = max(4, round(cells ** (1 / 3)))
    dims = [hierarchy(name, (max(1, side // 10), side - 1 - max(1, side // 10))) for name in "abc"]
    table, found = lattice(dims)
    assert table is not None, found
    made = relations(table)
    shape = (len(made.rhs), made.cells)

    def from_codes() -> object:
        fresh, _ = lattice(dims)
        assert fresh is not None
        return relations(fresh)

    def assemble() -> object:
        return coo_matrix((made.coefficient, (made.equation_of, made.cell_of)), shape=shape).tocsr()

    print(f"relations: {table.size:,} cells, {shape[0]:,} relations, {len(made.coefficient):,} entries")
    # Milliseconds: take the best of more runs.
    build, ready = measured(from_codes, 5 * repeat), measured(assemble, 5 * repeat)
    report("build / scipy CSR", build, ready, 2, cells >= 1_000_000)


def bench_jj(path: Path, repeat: int) -> None:
    if not path.is_file():
        print(f"JJ: {path.name} is not here, nothing measured (--jj FILE)")
        return

    def split_lines() -> list[list[str]]:
        with path.open() as lines:
            return [line.split() for line in lines]

    table, found = read_jj(path)
    assert table is not None, found
    print(f"JJ: {path.name}, {len(table.index):,} cells, {len(table.cell_of):,} entries")
    reading, splitting = measured(lambda: read_jj(path), 5 * repeat), measured(split_lines, 5 * repeat)
    report("read / split lines", reading, splitting, 3, judged=path.name == CBS.name)


def peak_memory(arguments: argparse.Namespace) -> None:
    """Of a process that reads the records from a Parquet file and tabulates them.

    Linux counts the parent's memory at the fork in, so another child makes the data, and this runs before all else.
    """
    options = ["--records", str(arguments.records), "--spread", arguments.spread]
    options += ["--text-ids"] if arguments.text_ids else []
    with tempfile.TemporaryDirectory() as folder:
        file = str(Path(folder) / "records.parquet")
        subprocess.run([sys.executable, __file__, "--only-write", file, *options], check=True)
        subprocess.run([sys.executable, __file__, "--only-tabulate", file], check=True)


def only_tabulate(file: str) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    dims = [hierarchy(name, levels) for name, levels in LEVELS.items()]
    columns = Columns(tuple(LEVELS), "turnover", group="holding", weight="weight")
    table, found = tabulate(pl.scan_parquet(file), dims, columns)
    assert table is not None, found
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    scale = 1 if sys.platform == "darwin" else 1024
    at_peak, at_start = peak * scale / 2**30, before * scale / 2**30
    print(f"tabulation: peak memory {at_peak:.2f} GiB ({at_start:.2f} before reading), promise: under 4")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=5_000_000)
    parser.add_argument("--cells", type=int, default=1_000_000)
    parser.add_argument("--spread", choices=["mixed", "random"], default="mixed")
    parser.add_argument("--text-ids", action="store_true", help="holdings named by text instead of numbers")
    parser.add_argument("--jj", type=Path, default=CBS)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--only-write", metavar="FILE", help=argparse.SUPPRESS)
    parser.add_argument("--only-tabulate", metavar="FILE", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.only_write:
        microdata(arguments.records, arguments.spread, arguments.text_ids).write_parquet(arguments.only_write)
        return
    if arguments.only_tabulate:
        only_tabulate(arguments.only_tabulate)
        return
    peak_memory(arguments)
    bench_tabulation(arguments.records, arguments.spread, arguments.text_ids, arguments.repeat)
    bench_relations(arguments.cells, arguments.repeat)
    bench_jj(arguments.jj, arguments.repeat)


if __name__ == "__main__":
    main()
