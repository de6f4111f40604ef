"""Files for reviewers: what they say of each cell, by a table whose cells are sensitive for different reasons."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import fastexcel
import polars as pl
import pytest
from click.testing import CliRunner

import sdcdsl
from sdcdsl.bind.readers.hst import read_hst
from sdcdsl.cli import cli

POLICY = """sdc 1
policy "Turnover"
data units {
  csv "units.csv"
  column unit = "id"
}
dimension region { codes N, S, E; total Total }
dimension size { codes "1", "2", "3"; total Total }
table turnover { from units; by region, size; sum turnover }
sensitive by threshold(3)
sensitive by dominance(n: 1, k: 80%)
sensitive by dominance(n: 2, k: 95%)
sensitive by p_percent(10%)
publish at (region: Total, size: Total)
attacker external { bounds 0 .. inf }
protect turnover {
  lpl max(needed, 1)
  upl max(needed, 1)
  against external
  cost value
  method suppression
  release csv "out.csv"
  release code_value "out.txt"
}
"""
# N1: two contributors. S2: one has nine tenths. E3: two have all but a little. The rest: ten contributors alike.
CELLS = {("N", "1"): [50, 50], ("S", "2"): [90, 4, 3, 3], ("E", "3"): [50, 48, 1, 1]}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows, number = ["id,region,size,turnover"], 0
    for region in "NSE":
        for size in "123":
            for amount in CELLS.get((region, size), [10] * 10):
                number += 1
                rows.append(f"u{number},{region},{size},{amount}")
    (tmp_path / "units.csv").write_text("\n".join(rows) + "\n")
    (tmp_path / "p.sdc").write_text(POLICY)
    return tmp_path


def test_all_reviews_by_one_command(folder: Path):
    arguments = [x for name in ("excel", "sdmx", "hst", "sacro") for x in ("--review", name)]
    told = CliRunner().invoke(cli, ["protect", str(folder / "p.sdc"), "--no-report", *arguments])
    assert told.exit_code == 0, told.output
    internal = folder / "internal"
    made = {path.name for path in internal.iterdir() if path.name != ".gitignore"}
    ends = ("xlsx", "sdmx.csv", "hst", "sacro.json")
    assert made == {f"p.turnover.internal.{end}" for end in ends}
    assert all(stat.S_IMODE((internal / name).stat().st_mode) == 0o600 for name in made)
    assert (internal / ".gitignore").is_file()
    lock = (folder / "p.sdc.lock").read_text()
    assert lock.count('what = "review turnover"') == 4
    assert "internal.xlsx" in told.output and "confidential" in told.output
    hidden = _hidden(folder)
    _transmission(internal / f"p.turnover.internal.{ends[1]}", hidden)
    _workbook(internal / f"p.turnover.internal.{ends[0]}", hidden)
    _apriori(internal / f"p.turnover.internal.{ends[2]}", hidden)
    _sacro(internal / f"p.turnover.internal.{ends[3]}", folder)


def _hidden(folder: Path) -> set[tuple[str, str]]:
    frame = pl.read_csv(folder / "out.csv", infer_schema=False)
    return set(frame.filter(pl.col("status") == "hidden").select("region", "size").rows())


def _transmission(path: Path, hidden: set[tuple[str, str]]) -> None:
    frame = pl.read_csv(path, infer_schema=False)
    assert frame.columns[:3] == ["STRUCTURE", "STRUCTURE_ID", "ACTION"]
    assert frame.select("STRUCTURE", "ACTION").unique().rows() == [("dataflow", "I")]
    flags = {(r["REGION"], r["SIZE"]): r["CONF_STATUS"] for r in frame.iter_rows(named=True)}
    values = {(r["REGION"], r["SIZE"]): float(r["OBS_VALUE"]) for r in frame.iter_rows(named=True)}
    assert flags["N", "1"] == "A"  # two contributors, before any other reason
    assert flags["S", "2"] == "O"  # one has 90 of 100
    assert flags["E", "3"] == "T"  # two have 98 of 100, none of them 80
    assert values["N", "1"] == values["S", "2"] == values["E", "3"] == 100.0  # the true values
    assert values["Total", "Total"] == 900.0 and flags["Total", "Total"] == "F"
    secondary = {cell for cell, flag in flags.items() if flag == "D"}
    assert secondary == hidden - {("N", "1"), ("S", "2"), ("E", "3")}
    assert secondary


def _workbook(path: Path, hidden: set[tuple[str, str]]) -> None:
    book = fastexcel.read_excel(path)
    assert book.sheet_names == ["published", "internal", "about"]
    published = book.load_sheet("published", schema_sample_rows=None).to_polars()
    gone = published.filter(pl.col("status") == "hidden")
    assert set(gone.select("region", "size").rows()) == hidden
    assert gone["value"].null_count() == len(gone)  # what is hidden is not on the sheet that says it is published
    internal = book.load_sheet("internal", schema_sample_rows=None).to_polars()
    by = {(r["region"], r["size"]): r for r in internal.iter_rows(named=True)}
    row = by["S", "2"]
    assert (row["true value"], row["role"], row["contributors"], row["largest 1"]) == (100.0, "primary", 4.0, 90.0)
    assert "dominance" in row["reason"] and row["published"] is None
    assert by["Total", "Total"]["role"] == "published on purpose"
    assert {cell for cell, r in by.items() if r["role"] in ("primary", "secondary")} == hidden


def _apriori(path: Path, hidden: set[tuple[str, str]]) -> None:
    entries, found = read_hst(path, dimensions=2)
    assert entries is not None, found
    said = {e.codes: e.status for e in entries if e.status is not None}
    assert said["N", "1"] == said["S", "2"] == said["E", "3"] == "unsafe"
    assert said["Total", "Total"] == "protect"
    assert {codes for codes, status in said.items() if status in ("unsafe", "hidden")} == hidden
    levels = {e.codes: e.levels for e in entries if e.levels is not None}
    assert set(levels) == {("N", "1"), ("S", "2"), ("E", "3")}
    assert all(low >= 1 and high >= 1 for low, high in levels.values())


def _sacro(path: Path, folder: Path) -> None:
    document = json.loads(path.read_text())
    [output] = document["results"].values()
    assert output["status"] == "pass" and output["summary"].startswith("pass; suppressed")
    files = {one["name"] for one in output["files"]}
    assert files == {"out.csv", "out.txt"}
    # Row and column of the cells in the order of the table: Total, N, S, E and Total, 1, 2, 3.
    cells = output["sdc"]["cells"]
    assert cells["threshold"] == [[1, 1]]
    assert [2, 2] in cells["nk-rule"] and [3, 3] in cells["nk-rule"]
    assert output["outcome"]["1"]["N"].startswith("nk-rule") or "threshold" in output["outcome"]["1"]["N"]
    assert output["outcome"]["Total"]["Total"] == "published on purpose"


def test_from_python_and_what_does_not_exist(folder: Path):
    run = sdcdsl.load(folder / "p.sdc").protect()
    paths = run.release(folder / "out", reviews=["hst"])
    assert "p.turnover.internal.hst" in [path.name for path in paths]
    with pytest.raises(ValueError, match="did you mean `excel`"):
        run.release(folder / "out", reviews=["exel"])
    told = CliRunner().invoke(cli, ["protect", str(folder / "p.sdc"), "--review", "exel"])
    assert told.exit_code == 2 and "did you mean `excel`" in told.output


def test_a_policy_that_releases_nothing_has_no_reviews(folder: Path):
    text = "\n".join(line for line in POLICY.splitlines() if not line.startswith("  release"))
    (folder / "p.sdc").write_text(text + "\n")
    told = CliRunner().invoke(cli, ["protect", str(folder / "p.sdc"), "--review", "hst"])
    assert told.exit_code == 0 and not (folder / "internal").exists()
