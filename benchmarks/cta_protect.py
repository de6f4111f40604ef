"""The whole of `protect` against a bare solver: read, bind, solve, audit and write, as shares of one linear program.

    python benchmarks/cta_protect.py                  # 22³ and 47³ cells from a CSV file

A three-dimensional table with its margins stands in a CSV file with its costs; a policy adjusts it, all senses up, in
L1. The baseline is HiGHS alone on the same linear program, in the same process, from arrays that are there already.
CPU seconds of one core, imports not counted.
"""

from __future__ import annotations

import argparse
import datetime
import os
import tempfile
from pathlib import Path
from time import process_time

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import polars as pl
from cta import Box, bare_l1

from sdcdsl.bind.places import Noted
from sdcdsl.bind.protect import bind_protect
from sdcdsl.bind.tables import Binding
from sdcdsl.methods.cta.asked import asked
from sdcdsl.pipeline import Request, prepare, release
from sdcdsl.policy.read import read_policy

POLICY = """sdc 1
policy "a cube"

data cells {{
  csv "cells.csv"
}}

{dimensions}
table t {{
  from cells
  by a, b, c
  value value
  status status
}}

sensitive by status

attacker external {{
  bounds 0 .. inf
}}

protect t {{
  lpl 10% of value
  upl 10% of value
  against external
  cost if value > 0 then 1 / value otherwise 1
  method cta {{
    norm L1
    sense up
  }}
  release csv "out.csv"
}}
"""


def written(folder: Path, k: int, seed: int = 1) -> Path:
    draw = np.random.default_rng(seed)
    table = np.zeros((k + 1,) * 3)
    table[1:, 1:, 1:] = np.ceil(draw.lognormal(4.0, 1.5, (k, k, k)))
    for axis in range(3):
        total = [slice(None)] * 3
        total[axis] = slice(0, 1)
        table[tuple(total)] = table.sum(axis=axis, keepdims=True)
    codes = np.array(["all", *(f"x{i}" for i in range(k))])
    at = np.indices(table.shape).reshape(3, -1)
    inner = (at > 0).all(axis=0)
    status = np.where(inner & (draw.random(at.shape[1]) < 0.05), "u", "s")
    frame = pl.DataFrame({**{n: codes[i] for n, i in zip("abc", at, strict=True)}, "value": table.ravel()})
    frame.with_columns(pl.Series("status", status)).write_csv(folder / "cells.csv")
    listed = ", ".join(codes[1:])
    dimensions = "".join(f"dimension {n} {{\n  codes {listed}\n  total all\n}}\n\n" for n in "abc")
    (folder / "cube.sdc").write_text(POLICY.format(dimensions=dimensions), encoding="utf-8")
    return folder / "cube.sdc"


def main() -> None:
    parser = argparse.ArgumentParser(description="The whole of `protect` against a bare solver.")
    parser.add_argument("sizes", nargs="*", type=int, default=[22, 47])
    for k in (2, *parser.parse_args().sizes):  # the first loads what has to be loaded
        with tempfile.TemporaryDirectory() as name:
            _compared(Path(name), k)


def _compared(folder: Path, k: int) -> None:
    path = written(folder, k)
    today = datetime.date(2026, 1, 1)
    began = process_time()
    policy, found = read_policy(path, str(path), False)
    assert policy is not None, found
    request = Request(policy, path, Noted(folder), today, folder)
    prepared = prepare(request)
    files, problems = release(prepared, request)
    ours = process_time() - began
    assert files and not problems, [*prepared.diagnostics, *problems]
    [outcome] = prepared.outcomes
    problem, _ = bind_protect(Binding(policy, Noted(folder), today), policy.protects["t"])
    assert problem is not None
    of = asked(problem, {"norm": "L1", "sense": "up"})
    l, u = of.of.box(of.of.sense)
    objective, bare = bare_l1(Box(of.of.M, of.w, l, u, of.sensitive), 600.0)
    assert objective is not None and outcome.result.objective is not None
    parts = ", ".join(f"{phase} {seconds:.2f}" for phase, seconds in outcome.seconds.items())
    print(
        f"cube-{k}: {problem.n} cells, protect {ours:.2f} s ({parts}), bare {bare:.2f} s, ratio {ours / bare:.2f}, "
        f"objectives {outcome.result.objective:.9g} and {objective:.9g}"
    )


if __name__ == "__main__":
    main()
