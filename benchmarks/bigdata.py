"""Tabulating more records than fit into memory: peak memory and CPU time, against a bare polars group-by.

    python benchmarks/bigdata.py                            # 50 million records; the promise: within 2 GB
    python benchmarks/bigdata.py --records 2000000 --folder /tmp/big
    python benchmarks/bigdata.py --text-ids                 # holdings named by text
    python benchmarks/bigdata.py --spread random            # every record in a random holding of about three

The file is made in chunks from one seed and kept in the folder, so that it is made once. Four hierarchical dimensions,
all skewed: few regions and activities have most of the records. As in `binding.py` four records in five are their own
holding and the others belong to groups of skewed size, unless `--spread random`. Each measurement is a process of its
own; peak memory is what the system says of it (VmHWM).
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter, process_time

import numpy as np
import polars as pl
from binding import LEVELS, hierarchy

from sdcdsl.bind.microdata import Columns
from sdcdsl.bind.tabulate import tabulate

SEED = 50
CHUNK = 2_000_000
PROMISE = 2e9  # bytes


def chunk(at: int, n: int, every: int, spread: str, text_ids: bool) -> pl.DataFrame:
    """Records at .. at + n of `every`."""
    rng = np.random.default_rng((SEED, at))
    data = {}
    for name, levels in LEVELS.items():
        leaves = pl.Series([f"{name}{len(levels)}{i:05d}" for i in range(levels[-1])])
        share = 1.0 / np.arange(1, levels[-1] + 1)
        data[name] = leaves.gather(pl.Series(rng.choice(levels[-1], n, p=share / share.sum())))
    data["turnover"] = pl.Series(rng.lognormal(3, 2, n).round(2))
    data["weight"] = pl.Series(rng.choice([1.0, 1.0, 2.5, 10.0], n))
    if spread == "random":
        holding = rng.integers(0, max(1, every // 3), n)
    else:
        holding = np.arange(at, at + n)
        grouped = rng.random(n) < 0.2
        holding[grouped] = every + (rng.random(int(grouped.sum())) ** 3 * every / 25).astype(np.int64)
    ids = pl.Series(holding)
    data["holding"] = pl.select(pl.format("E{}", ids)).to_series() if text_ids else ids
    return pl.DataFrame(data)


def make(folder: Path, records: int, spread: str, text_ids: bool) -> Path:
    file = folder / f"{records}-{spread}{'-text' if text_ids else ''}.parquet"
    if file.is_file():
        return file
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as parts:
        for i, at in enumerate(range(0, records, CHUNK)):
            made = chunk(at, min(CHUNK, records - at), records, spread, text_ids)
            made.write_parquet(Path(parts) / f"{i:05d}.parquet")
        whole = Path(parts) / "whole"
        pl.scan_parquet(Path(parts) / "*.parquet").sink_parquet(whole)
        whole.rename(file)
    return file


def peak() -> int:
    """Bytes of memory that this process has held at most."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    raise RuntimeError("the system does not say how much memory was used")


def ours(file: Path) -> dict[str, float]:
    dims = [hierarchy(name, levels) for name, levels in LEVELS.items()]
    columns = Columns(tuple(LEVELS), "turnover", group="holding", weight="weight")
    made, found = tabulate(pl.scan_parquet(file), dims, columns)
    assert made is not None, found
    return {"value": float(made.value[0]), "contributors": int(made.count[0]), "largest": float(made.largest[0, 0])}


def bare(file: Path) -> dict[str, float]:
    scan = pl.scan_parquet(file).group_by(list(LEVELS))
    made = scan.agg((pl.col("turnover") * pl.col("weight")).sum(), pl.len()).collect(engine="streaming")
    return {"value": float(made["turnover"].sum()), "cells": made.height}


WORK = {"ours": ours, "bare": bare}


def measured(what: str, file: Path) -> dict[str, float]:
    done = subprocess.run(
        [sys.executable, __file__, "--child", what, "--file", str(file)], check=True, capture_output=True, text=True
    )
    return json.loads(done.stdout)


def child(what: str, file: Path) -> None:
    before, wall, cpu = peak(), perf_counter(), process_time()
    answer = WORK[what](file)
    figures = {"wall": perf_counter() - wall, "cpu": process_time() - cpu, "before": before, "peak": peak()}
    print(json.dumps(answer | figures))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=50_000_000)
    parser.add_argument("--spread", choices=["mixed", "random"], default="mixed")
    parser.add_argument("--text-ids", action="store_true", help="holdings named by text instead of numbers")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "sdcdsl-bigdata")
    parser.add_argument("--json", type=Path, metavar="FILE", help="figures go there as well")
    parser.add_argument("--child", choices=WORK, help=argparse.SUPPRESS)
    parser.add_argument("--file", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        child(arguments.child, arguments.file)
        return
    file = make(arguments.folder, arguments.records, arguments.spread, arguments.text_ids)
    print(f"{arguments.records:,} records, {file.stat().st_size / 1e9:.2f} GB of Parquet, holdings {arguments.spread}")
    rows = {what: measured(what, file) for what in WORK}
    for what, row in rows.items():
        memory = f"{row['peak'] / 1e9:.2f} GB at most ({row['before'] / 1e9:.2f} before)"
        print(f"  {what}: CPU {row['cpu']:.1f} s, wall {row['wall']:.1f} s, {memory}")
    mine, theirs = rows["ours"], rows["bare"]
    assert abs(mine["value"] - theirs["value"]) <= 1e-9 * abs(theirs["value"]), (mine, theirs)
    print(f"  ratio: CPU {mine['cpu'] / theirs['cpu']:.1f}, wall {mine['wall'] / theirs['wall']:.1f}")
    kept = "kept" if mine["peak"] <= PROMISE else "BROKEN"
    judged = kept if arguments.records >= 50_000_000 else "not judged at this size"
    print(f"  promise: within {PROMISE / 1e9:.0f} GB: {judged}")
    if arguments.json:
        arguments.json.write_text(json.dumps({"records": arguments.records, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
