"""Named tables for the benchmarks: made like those of the papers, or read from the shared data.

* `LOOKALIKES`: the six tables of paper 000 (its Table 1), which are not public. Rows with a hierarchy × flat columns,
  both counted with their totals: n = rows · columns, one relation a row and one for each inner row and column,
  m = rows + inner · columns. The number of sensitive cells is a share of the cells outside the total row and column. n,
  m, the entries and the sensitive cells come out exactly as in the paper; the values are our own.
* `large`: the same kind with 10 000 and 100 000 cells.
* `business`: the family of `bench/small`: few skewed records in three dimensions, sensitive where few of them dominate.
* `bench`: the tables `small` and `mid` themselves, costs their values.
* `from_file`: a JJ file, those of CSPLIB among them.

What makes tables of any size stands in `generators.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from generators import ASYMMETRIC, SYMMETRIC, added_up, bound, cells_over, hierarchy, in_leaves, problem, random_tree

from sdcdsl.bind.holdings import cells_of
from sdcdsl.bind.microdata import Columns
from sdcdsl.bind.problem import TableProblem
from sdcdsl.bind.rules.cells import combined
from sdcdsl.bind.rules.p_percent import PPercent
from sdcdsl.bind.rules.threshold import Threshold
from sdcdsl.bind.tabulate import tabulate

__all__ = ["ASYMMETRIC", "SYMMETRIC", "hierarchy", "problem", "random_tree"]  # and what stands below

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
BENCH, CSPLIB = DATA / "bench", DATA / "csplib"


@dataclass(frozen=True)
class Shape:
    rows: int  # all codes of the hierarchy, the total included
    inner: int  # those that have parts
    columns: int  # the total included
    share: float  # of the cells outside total row and column that are sensitive


LOOKALIKES = {
    1: Shape(76, 5, 19, 0.10),
    2: Shape(159, 9, 16, 0.10),
    3: Shape(124, 7, 17, 0.10),
    4: Shape(76, 4, 19, 0.16),
    5: Shape(93, 5, 16, 0.16),
    6: Shape(83, 5, 17, 0.16),
}
LARGE = {10_000: Shape(200, 12, 50, 0.10), 100_000: Shape(1000, 40, 100, 0.10)}


def lookalike(number: int, levels: tuple[float, float] = SYMMETRIC, seed: int = 0) -> TableProblem:
    return network(LOOKALIKES[number], levels, seed=1000 * number + seed)


def large(size: int, levels: tuple[float, float] = SYMMETRIC, seed: int = 0) -> TableProblem:
    """One cell in twenty is 0; of the sums only the smaller ones are sensitive."""
    return network(LARGE[size], levels, seed=seed, zeros=0.05, small_sums=True)


def network(
    shape: Shape,
    levels: tuple[float, float] = SYMMETRIC,
    *,
    seed: int = 0,
    zeros: float = 0.0,
    small_sums: bool = False,
) -> TableProblem:
    """Skewed whole numbers in the leaves, `zeros` of them 0; sensitive cells at random among those that are not 0.

    With `small_sums` only one sensitive cell in twenty is a sum, of those below the median.
    """
    rng = np.random.default_rng(seed)
    rows = random_tree("r", shape.rows, shape.inner, rng)
    columns = hierarchy("c", (shape.columns - 1,))
    cells = cells_over([rows, columns])
    leaves = shape.rows - shape.inner, shape.columns - 1
    inner = np.ceil(rng.lognormal(4, 1, leaves)) * (rng.random(leaves) >= zeros)
    table = added_up(in_leaves(inner, cells.dimensions), cells.dimensions)
    inside = np.zeros(table.shape, dtype=bool)
    inside[1:, 1:] = table[1:, 1:] > 0
    count = int(shape.share * (shape.rows - 1) * (shape.columns - 1))
    a = table.ravel()
    if small_sums:
        leaf = cells.is_leaf
        sums = np.flatnonzero(inside.ravel() & ~leaf & (a < np.median(a[~leaf & inside.ravel()])))
        parts = np.flatnonzero(inside.ravel() & leaf)
        some = min(count // 20, len(sums))
        chosen = [rng.choice(sums, some, replace=False), rng.choice(parts, count - some, replace=False)]
        sensitive = np.sort(np.concatenate(chosen))
    else:
        sensitive = np.sort(rng.choice(np.flatnonzero(inside), count, replace=False))
    return problem(cells, a, sensitive, levels[0] * a[sensitive], levels[1] * a[sensitive])


def business(levels: tuple[tuple[int, ...], ...] = ((2, 6), (2, 4), (3,)), sensitive: int = 30, seed: int = 0):
    """About 250 cells: records fall unevenly over the leaves, few to a cell. Of the cells that the rules of
    `bench/small` find (fewer than 3 contributors, or the p % rule with 10), this many are sensitive."""
    rng = np.random.default_rng(seed)
    dimensions = [hierarchy(name, level) for name, level in zip(("REG", "IND", "SIZE"), levels, strict=True)]
    leaves = [level[-1] for level in levels]
    records = int(1.5 * np.prod(leaves))
    data = {}
    for dimension, many in zip(dimensions, leaves, strict=True):
        code = rng.choice(many, records, p=rng.dirichlet(np.full(many, 1.5)))
        data[dimension.name] = pl.Series([dimension.codes[c - many] for c in code])
    data["value"] = pl.Series(np.ceil(rng.lognormal(3, 1.1, records)))
    table, found = tabulate(pl.DataFrame(data), dimensions, Columns(("REG", "IND", "SIZE"), "value"))
    assert table is not None, found
    judged = cells_of(table)
    verdict = combined([Threshold(n=3, level=0.1).judge(judged), PPercent(p=0.1).judge(judged)])
    candidates = np.flatnonzero(verdict.sensitive & (table.value > 0))
    chosen = np.sort(rng.choice(candidates, min(sensitive, len(candidates)), replace=False))
    level = np.ceil(np.round(verdict.upper[chosen], 9))
    return problem(table.lattice, table.value, chosen, level, level)


# ---- the shared tables -----------------------------------------------------------------------------------------------

DIMENSION = 'dimension {0} {{\n  hierarchy hrc "{0}.hrc"\n  total Total\n}}\n'
POLICY = """sdc 1
policy "a benchmark table"

data source {
  csv "table.csv"
}

DIMENSIONS
table t {
  from source
  by REG, IND, SIZE
  value value
  count freq
  largest(1) top1
  largest(2) top2
  measure turnover
}

sensitive by threshold(3, level: 10%)
sensitive by p_percent(10%)

attacker external {
  bounds 0 .. inf
}

protect t {
  lpl ceil(round(needed * 1000000) / 1000000)
  upl ceil(round(needed * 1000000) / 1000000)
  against external
  cost value
  method csp {
    unions off
  }
}
"""


def bench(name: str) -> TableProblem:
    """`small` or `mid`, with the sensitive cells and levels that the file states."""
    folder = BENCH / name
    text = POLICY.replace("DIMENSIONS", "\n".join(DIMENSION.format(d) for d in ("REG", "IND", "SIZE")))
    made = bound(text, folder)
    stated = pl.read_csv(folder / "table.csv").filter(pl.col("sens") == 1)
    d = made.dataset
    assert d.sizes["pair"] == len(stated), "sensitive cells differ from those of the file"
    assert float(d["upl"].sum()) == stated["upl"].sum(), "levels differ from those of the file"
    return made


def from_file(path: Path) -> TableProblem:
    text = (
        f'sdc 1\npolicy "a table from a file"\n\ntable t {{\n  jj "{path.name}"\n}}\n\nprotect t {{\n  method csp\n}}\n'
    )
    return bound(text, path.parent)
