"""Real and benchmark tables from the shared data, where they are at hand: known counts, tops, levels and totals."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from sdcdsl.bind.hierarchy import DimensionCodes
from sdcdsl.bind.holdings import cells_of
from sdcdsl.bind.microdata import Columns
from sdcdsl.bind.relations import relations
from sdcdsl.bind.rules.cells import combined
from sdcdsl.bind.rules.p_percent import PPercent
from sdcdsl.bind.rules.threshold import Threshold
from sdcdsl.bind.tabulate import tabulate
from tests.bind.small_worlds import dimension, flat, tree

DATA = Path(__file__).resolve().parents[2].parent / "shared" / "data"

pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="the shared data (../shared/data) is not here")


def hrc(file: Path) -> DimensionCodes:
    """`@` marks the depth; the total is not in the file."""
    edges, path = [], ["Total"]
    for line in file.read_text().split():
        code = line.lstrip("@")
        path = [*path[: 1 + len(line) - len(code)], code]
        edges.append((path[-2], code, 1))
    return dimension(file.stem, tree("Total", edges))


@pytest.mark.parametrize("name", ["small", "mid"])
def test_benchmark_tables(name):
    folder = DATA / "bench" / name
    dims = [hrc(folder / f"{d}.hrc") for d in ("REG", "IND", "SIZE")]
    micro = pl.read_csv(folder / "micro.csv")
    table, found = tabulate(micro, dims, Columns(("REG", "IND", "SIZE"), "value"))
    assert found == []
    assert table is not None
    known = pl.read_csv(folder / "table.csv")
    cell = [table.lattice.cell(codes) for codes in known.select("REG", "IND", "SIZE").iter_rows(named=True)]
    assert sorted(cell) == list(range(table.lattice.size))
    assert table.count[cell].tolist() == known["freq"].to_list()
    assert table.value[cell].tolist() == known["value"].to_list()
    np.testing.assert_array_equal(table.largest[cell], known.select("top1", "top2").to_numpy())
    cells = cells_of(table)
    judgement = combined([Threshold(n=3, level=0.1).judge(cells), PPercent(p=0.1).judge(cells)])
    assert judgement.sensitive[cell].tolist() == known["sens"].cast(bool).to_list()
    rounded = np.ceil(np.round(judgement.upper[cell], 9))  # the file rounds levels up
    assert rounded.tolist() == known["upl"].to_list()
    made = relations(table.lattice)
    assert not np.bincount(made.equation_of, weights=made.coefficient * table.value[made.cell_of]).any()


def test_regions_in_two_non_nested_hierarchies():
    frame = pl.read_csv(DATA / "tables" / "ssbtools" / "sosialFiktiv.csv").with_columns(
        *[pl.col(c).cast(pl.Int64).cast(pl.String) for c in ("region", "fylke", "kostragr")]
    )
    trees = []
    for above in ("fylke", "kostragr"):
        pairs = frame.select(above, "region").unique(maintain_order=True).rows()
        tops = dict.fromkeys(f"{above} {top}" for top, _ in pairs)
        edges = [("Total", top, 1) for top in tops] + [(f"{above} {top}", region, 1) for top, region in pairs]
        trees.append(tree("Total", edges, above))
    region = dimension("region", *trees)
    purpose = flat("hovedint", frame["hovedint"].unique().sort().to_list())
    table, found = tabulate(frame, [region, purpose], Columns(("region", "hovedint"), "ant"))
    assert found == []
    assert table is not None
    for above in ("fylke", "kostragr"):
        for top, what, total in frame.group_by(above, "hovedint").agg(pl.col("ant").sum()).iter_rows():
            assert table.value[table.lattice.cell({"region": f"{above} {top}", "hovedint": what})] == total
    assert table.value[table.lattice.cell({})] == frame["ant"].sum()
