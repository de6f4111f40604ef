"""Folders, partitions and patterns as sources: what they give, what is noted for locks, and what is wrong with them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import sdcdsl
from sdcdsl.cli import cli
from sdcdsl.notebook.refused import Refused

POLICY = """sdc 1
policy "Plants"

data plants {
  SOURCE
}

dimension region {
  codes N, S
  total All
}

dimension year {
  codes 2024, 2025
  total Both
}

table output {
  from plants
  by region, year
  sum output
}

sensitive by threshold(2)

attacker external {
  bounds 0 .. inf
}

protect output {
  lpl needed
  upl needed
  against external
  method csp
  release csv "RELEASE"
}
"""
RECORDS = {
    "region": ["N", "S", "N", "S", "N", "S", "N"],
    "year": ["2024", "2024", "2025", "2025", "2024", "2024", "2025"],
    "output": [4.5, 1.25, 30.0, 8.5, 16.0, 7.0, 2.0],
}
FRAME = pl.DataFrame(RECORDS)


def policy(folder: Path, source: str, release: str = "release/out.csv") -> Path:
    path = folder / "plants.sdc"
    path.write_text(POLICY.replace("SOURCE", source).replace("RELEASE", release), encoding="utf-8")
    return path


def values(path: Path) -> np.ndarray:
    [table] = sdcdsl.load(path).problems["output"].bound.tables
    return table.value


def expected() -> np.ndarray:
    out = []
    for region in ("All", "N", "S"):
        for year in ("Both", "2024", "2025"):
            rows = zip(*RECORDS.values(), strict=True)
            out.append(sum(x for r, y, x in rows if region in ("All", r) and year in ("Both", y)))
    return np.array(out)


def written(folder: Path, format: str, names: list[str]) -> None:
    """The records dealt out over some files."""
    for i, name in enumerate(names):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        part = FRAME[i :: len(names)]
        part.write_csv(path) if format == "csv" else part.write_parquet(path)


@pytest.mark.parametrize("format", ["csv", "parquet"])
@pytest.mark.parametrize("source", ["p/*.{0}", "p/part-[12].{0}", "p/part-?.{0}", "p", "*/*.{0}", "**/part*.{0}"])
def test_all_files_count(tmp_path, format, source):
    written(tmp_path, format, [f"p/part-1.{format}", f"p/part-2.{format}"])
    (tmp_path / "p" / "_temporary.txt").write_text("no data")
    assert values(policy(tmp_path, f'{format} "{source.format(format)}"')).tolist() == expected().tolist()


def test_the_order_of_files_does_not_matter(tmp_path):
    made = []
    for number, names in enumerate((["a.csv", "b.csv", "c.csv"], ["c.csv", "b.csv", "a.csv"])):
        folder = tmp_path / str(number)
        written(folder, "csv", names)
        made.append(values(policy(folder, 'csv "?.csv"')))
    assert np.array_equal(*made)


def test_partitions_name_a_column(tmp_path):
    for (year,), part in FRAME.partition_by("year", as_dict=True).items():
        folder = tmp_path / "p" / f"year={year}"
        folder.mkdir(parents=True)
        part.drop("year").write_parquet(folder / "0.parquet")
    assert values(policy(tmp_path, 'parquet "p"')).tolist() == expected().tolist()
    assert values(policy(tmp_path, 'parquet "p/*/*.parquet"')).tolist() == expected().tolist()


def test_a_name_with_signs_in_it_is_a_name(tmp_path):
    FRAME.write_parquet(tmp_path / "plants[1].parquet")
    pl.DataFrame({"other": [1]}).write_parquet(tmp_path / "plants1.parquet")
    assert values(policy(tmp_path, 'parquet "plants[1].parquet"')).tolist() == expected().tolist()


def test_an_empty_partition_is_left_out(tmp_path):
    written(tmp_path, "parquet", ["p/1.parquet", "p/2.parquet"])
    FRAME.head(0).write_parquet(tmp_path / "p" / "3.parquet")
    assert values(policy(tmp_path, 'parquet "p"')).tolist() == expected().tolist()


def test_columns_may_have_other_types_and_places(tmp_path):
    FRAME[:3].write_parquet(tmp_path / "1.parquet")
    whole = FRAME[3:].select(pl.col("output").cast(pl.Float32), pl.col("year").cast(pl.Int64), "region")
    whole.write_parquet(tmp_path / "2.parquet")
    assert values(policy(tmp_path, 'parquet "?.parquet"')).tolist() == expected().tolist()


# ---- what is wrong -------------------------------------------------------------------------------------------------


def refused(path: Path) -> Refused:
    with pytest.raises(Refused) as caught:
        sdcdsl.load(path).problems  # noqa: B018
    return caught.value


def test_nothing_matches(tmp_path):
    [found] = refused(policy(tmp_path, 'csv "2025-*.csv"')).diagnostics
    assert found.code == "SDC302"
    assert found.headline == 'no file matches "2025-*.csv"'
    (tmp_path / "p").mkdir()
    [found] = refused(policy(tmp_path, 'csv "p"')).diagnostics
    assert found.headline == 'no file in "p" ends in .csv'


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_files_with_different_columns(tmp_path, format):
    written(tmp_path, format, [f"a.{format}", f"b.{format}"])
    other = FRAME.rename({"output": "outputs"})
    other.write_csv(tmp_path / "c.csv") if format == "csv" else other.write_parquet(tmp_path / "c.parquet")
    [found] = refused(policy(tmp_path, f'{format} "?.{format}"')).diagnostics
    assert found.code == "SDC303"
    assert "no column `output`" in found.headline
    assert found.marks[0].place.name.endswith(f"c.{format}")  # type: ignore[union-attr]


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_a_wrong_code_is_found_in_its_file(tmp_path, format):
    """Row 2 of the third file, which is line 3 of a text."""
    for name in ("a", "b", "c"):
        part = FRAME[:3] if name != "c" else FRAME[:3].with_columns(region=pl.Series(["N", "West", "N"]))
        part.write_csv(tmp_path / f"{name}.csv") if format == "csv" else part.write_parquet(
            tmp_path / f"{name}.parquet"
        )
    [found] = refused(policy(tmp_path, f'{format} "?.{format}"')).diagnostics
    place = found.marks[0].place
    assert found.code == "SDC304"
    assert place.name.endswith(f"c.{format}")  # type: ignore[union-attr]
    assert (place.line == 3) if format == "csv" else ("row 2" in place.detail)  # type: ignore[union-attr]


def test_links_do_not_lead_out(tmp_path):
    inside, outside = tmp_path / "in", tmp_path / "out"
    inside.mkdir()
    outside.mkdir()
    FRAME.write_csv(outside / "secret.csv")
    FRAME.write_csv(inside / "1.csv")
    (inside / "2.csv").symlink_to(outside / "secret.csv")
    [found] = refused(policy(inside, 'csv "?.csv"')).diagnostics
    assert found.code == "SDC140"
    assert found.notes == ("2.csv",)


# ---- locks, and files that the program writes ----------------------------------------------------------------------


def run(*arguments: object):
    return CliRunner().invoke(cli, [str(a) for a in arguments], prog_name="sdcdsl")


def test_every_file_is_in_the_lock(tmp_path):
    written(tmp_path, "csv", ["p/1.csv", "p/2.csv"])
    path = policy(tmp_path, 'csv "p/*.csv"')
    assert run("protect", path, "--no-report").exit_code == 0
    lock = tmp_path / "plants.sdc.lock"
    text = lock.read_text()
    assert "p/1.csv" in text
    assert "p/2.csv" in text
    assert run("verify", lock).exit_code == 0
    (tmp_path / "p" / "2.csv").write_text("region,year,output\nN,2024,1\n")
    told = run("verify", lock)
    assert told.exit_code != 0
    assert "p/2.csv" in told.output


@pytest.mark.parametrize(("source", "release"), [("*.csv", "out.csv"), ("p", "p/out.csv"), ("p/*.csv", "p/out.csv")])
def test_a_release_is_not_put_among_the_data(tmp_path, source, release):
    written(tmp_path, "csv", ["1.csv", "2.csv"])
    written(tmp_path, "csv", ["p/1.csv", "p/2.csv"])
    said = json.loads(run("protect", policy(tmp_path, f'csv "{source}"', release), "--json").stdout)
    assert [d["code"] for d in said["diagnostics"]] == ["SDC503"]
    assert "the next run would take it for data of `plants`" in said["diagnostics"][0]["headline"]


def test_another_folder_when_running(tmp_path):
    (tmp_path / "here").mkdir()
    written(tmp_path, "csv", ["there/1.csv", "there/2.csv"])
    path = policy(tmp_path / "here", 'csv "plants.csv"')
    loaded = sdcdsl.load(path, data={"plants": tmp_path / "there"})
    assert loaded.problems["output"].bound.tables[0].value.tolist() == expected().tolist()
