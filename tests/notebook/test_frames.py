"""Data frames handed in: whatever library they come from, the cells, the digests and the mistakes are the same."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import xarray as xr
from click.testing import CliRunner

import sdcdsl
from sdcdsl.bind.readers.content_digest import content_digest
from sdcdsl.bind.readers.frames import read_frame
from sdcdsl.bind.readers.records import ColumnSelection
from sdcdsl.cli import cli

POLICY = """sdc 1
policy "Turnover by region and size"
data units {
  frame "units"
  column unit = "id"
}
dimension region { codes N, S; total Total }
dimension size { codes "1", "2"; total Total }
table turnover { from units; by region, size; sum turnover }
sensitive by threshold(3)
attacker external { bounds 0 .. inf }
protect turnover { lpl 0.5; upl 0.5; against external; cost value; method suppression; release csv "out.csv" }
"""
ROWS = {
    "id": [f"u{i}" for i in range(20)],
    "region": ["N", "S"] * 10,
    "size": [1, 1, 2, 2] * 4 + [1, 1, 1, 1],
    "turnover": [float(i + 1) for i in range(20)],
}
FRAMES = {
    "polars": lambda: pl.DataFrame(ROWS),
    "lazy polars": lambda: pl.DataFrame(ROWS).lazy(),
    "pandas": lambda: pd.DataFrame(ROWS),
    "pandas with categories": lambda: pd.DataFrame(ROWS).astype({"region": "category"}),
    "pandas with floats for codes": lambda: pd.DataFrame(ROWS).astype({"size": "float64"}),
    "pyarrow": lambda: pa.table(ROWS),
    "pyarrow with dictionaries": lambda: pa.table({**ROWS, "region": pa.array(ROWS["region"]).dictionary_encode()}),
}


def digest(loaded: sdcdsl.Loaded) -> str:
    assert loaded.problems
    [content] = loaded._places.contents.values()
    return content.sha256


@pytest.mark.parametrize("library", FRAMES)
def test_every_library_gives_the_records_of_the_file(library: str, tmp_path: Path):
    pl.DataFrame(ROWS).write_csv(tmp_path / "units.csv")
    (tmp_path / "p.sdc").write_text(POLICY.replace('frame "units"', 'csv "units.csv"'))
    by_file = sdcdsl.load(tmp_path / "p.sdc").problems["turnover"]
    loaded = sdcdsl.load(POLICY, data={"units": FRAMES[library]()})
    assert loaded.problems["turnover"].cells().equals(by_file.cells())
    assert digest(loaded) == digest(sdcdsl.load(POLICY, data={"units": FRAMES["polars"]()}))
    # The same rows by hand: N has the odd numbers 1 to 19, S the even ones.
    cells = {(r["region"], r["size"]): r["value"] for r in by_file.cells().iter_rows(named=True)}
    assert (cells["N", "Total"], cells["S", "Total"], cells["Total", "Total"]) == (100.0, 110.0, 210.0)


@pytest.mark.parametrize("library", ["polars", "pandas", "pyarrow"])
def test_numbers_stay_where_they_are(library: str):
    numbers = np.arange(1000, dtype=np.float64)
    made = {"polars": pl.DataFrame, "pandas": lambda d: pd.DataFrame(d, copy=False), "pyarrow": pa.table}
    records, _ = read_frame(made[library]({"x": numbers}), "x", ColumnSelection(numbers=["x"]))
    assert records is not None
    taken = records.frame.collect(engine="in-memory")["x"].to_numpy(allow_copy=False)
    assert taken.ctypes.data == numbers.ctypes.data


def test_a_changed_figure_changes_the_digest_and_a_chunk_does_not():
    whole = pl.DataFrame({"a": ["x", None, "yz"], "b": [1.0, None, 0.0]})
    parts = pl.concat([whole[:1], whole[1:]], rechunk=False)
    assert content_digest(whole.lazy(), ["a", "b"]) == content_digest(parts.lazy(), ["a", "b"])
    others = [
        whole.with_columns(a=pl.Series(["xy", None, "z"])),
        whole.with_columns(a=pl.Series(["x", "", "yz"])),
        whole.with_columns(b=pl.Series([1.0, 0.0, None])),
        whole.rename({"a": "c"}).rename({"b": "a"}).rename({"c": "b"}),
        whole[:2],
        whole[::-1],
    ]
    digests = {content_digest(frame.lazy(), ["a", "b"]) for frame in (whole, *others)}
    assert len(digests) == 1 + len(others)


def test_arrays_of_xarray_are_ready_made_cells():
    values = np.array([[10.0, 5.0], [7.0, np.nan]])
    array = xr.DataArray(
        values, coords={"region": ["N", "S"], "size": [1, 2]}, dims=["region", "size"], name="turnover"
    )
    policy = POLICY.replace("sum turnover", "value turnover { absent zero }").replace(
        "sensitive by threshold(3)", "sensitive at (region: N, size: 2)"
    )
    policy = policy.replace('  column unit = "id"\n', "")
    for data in (array, array.to_dataset(), array.T, array.to_dataset().assign_coords(extra=3)):
        cells = sdcdsl.load(policy, data={"units": data}).problems["turnover"].cells()
        by = {(r["region"], r["size"]): r["value"] for r in cells.iter_rows(named=True)}
        assert (by["N", "1"], by["S", "1"], by["S", "2"], by["Total", "Total"]) == (10.0, 7.0, 0.0, 22.0)
    with pytest.raises(sdcdsl.Refused, match="dimension `size` of the data frame units has no coordinate"):
        sdcdsl.load(policy, data={"units": array.drop_vars("size")}).protect()


def test_the_lock_knows_the_digest_and_no_file(tmp_path: Path):
    run = sdcdsl.load(POLICY, data={"units": pd.DataFrame(ROWS)}).protect()
    run.release(tmp_path / "out")
    lock = tmp_path / "out" / "internal" / "policy.sdc.lock"
    text = lock.read_text()
    assert 'origin = "a data frame"' in text and 'what = "data units"' in text
    assert str(tmp_path) not in text
    told = CliRunner().invoke(cli, ["verify", str(lock)])
    assert "a data frame" in told.stdout and "only a replay reads it again" in told.stdout, told.output
    told = CliRunner().invoke(cli, ["verify", str(lock), "--replay"])
    assert told.exit_code != 0


@pytest.mark.parametrize(
    ("frame", "what"),
    [
        ({"region": ["N"]}, "no column `id` in the data frame units"),
        ({**ROWS, "turnover": ["x"] * 20}, "text where a number belongs, in column `turnover` of the data frame units"),
        ({**ROWS, "turnover": [[1.0]] * 20}, "column `turnover` of the data frame units holds no numbers"),
        ({**ROWS, "size": [1.5] * 20}, "numbers with decimals where a code belongs, in column `size`"),
        ({**ROWS, "region": ["W"] * 20}, "code of dimension region that the dimension does not have: `W`"),
        ({name: [] for name in ROWS}, "the data frame units has no rows"),
    ],
)
@pytest.mark.parametrize("library", [pl.DataFrame, pd.DataFrame, pa.table])
def test_what_is_wrong_with_a_frame_is_said(frame: dict, what: str, library):
    with pytest.raises(sdcdsl.Refused) as error:
        sdcdsl.load(POLICY, data={"units": library(frame)}).protect()
    assert what in str(error.value)


def test_what_is_no_frame_is_refused():
    with pytest.raises(TypeError, match=r"a builtins.list is no data frame of pandas, polars, pyarrow"):
        sdcdsl.load(POLICY, data={"units": [1, 2]})
    with pytest.raises(TypeError, match="region is no data of the policy"):
        sdcdsl.load(POLICY, data={"region": pl.DataFrame(ROWS)})
    with pytest.raises(KeyError, match="did you mean `units`"):
        sdcdsl.load(POLICY, data={"unit": pl.DataFrame(ROWS)})


def test_a_frame_that_was_not_handed_in_is_missed_and_a_file_takes_its_place(tmp_path: Path):
    with pytest.raises(sdcdsl.Refused, match='the data frame "units" was not handed in'):
        sdcdsl.load(POLICY).protect()
    for name, write in (("u.csv", "write_csv"), ("u.parquet", "write_parquet")):
        getattr(pl.DataFrame(ROWS), write)(tmp_path / name)
        cells = sdcdsl.load(POLICY, data={"units": tmp_path / name}).problems["turnover"].cells()
        assert cells["value"].max() == 210.0


def test_tables_come_out_with_labels():
    run = sdcdsl.load(POLICY, data={"units": pd.DataFrame(ROWS)}).protect()
    made = run["turnover"].array()
    assert made.sizes == {"region": 3, "size": 3}
    assert made["value"].sel(region="Total", size="Total") == 210.0
    table = run["turnover"].table()
    hidden = table.filter(pl.col("status") == "hidden")
    for row in hidden.iter_rows(named=True):
        assert np.isnan(made["value"].sel(region=row["region"], size=row["size"]))
    assert int((made["status"] == "hidden").sum()) == len(hidden)
    problem = sdcdsl.load(POLICY, data={"units": pd.DataFrame(ROWS)}).problems["turnover"]
    assert problem.array()["value"].sel(region="N", size="Total") == 100.0
