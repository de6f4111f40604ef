"""Files of other programs: the records they hold are those of the CSV file, and what is wrong with them is said."""

from __future__ import annotations

import gzip
from pathlib import Path

import polars as pl
import pyreadstat
import pytest

from sdcdsl.bind.readers.file_kinds import KINDS
from sdcdsl.bind.readers.unpacking import unpacked
from sdcdsl.vocabulary.formats import READERS
from tests.bind.policies import bind_text, problem_of
from tests.bind.readers.office_files import FORMATS, FRAME, workbook, write

POLICY = """sdc 1
policy "x"
data units {{
  {origin}
  column unit = "id"
}}
dimension nace {{ codes "4711", "4712", "10"; total Total }}
dimension region {{ codes "Øst", N; total Total }}
table t {{ from units; by nace, region; count }}
sensitive by threshold(2)
attacker external {{ bounds 0 .. inf }}
protect t {{ lpl 0.1; upl 0.1; against external; method suppression }}
"""
SUM = POLICY.replace("; count }}", "; sum turnover; only where turnover >= 0 }}")


def say(origin: str, folder: Path, policy: str = SUM) -> list[str]:
    _, found = bind_text(policy.format(origin=origin), folder)
    return [f"{d.code} {d.headline.replace(str(folder), '…')}" for d in found if d.code != "SDC335"]


@pytest.mark.parametrize("format", FORMATS)
def test_all_formats_give_the_same_cells(format: str, tmp_path: Path):
    origin = write(tmp_path, format)
    problem = problem_of(SUM.format(origin=origin), tmp_path)
    cells = {
        problem.label(i): float(v) for i, v in enumerate(problem.dataset["a"].values[: problem.tables[0].lattice.size])
    }
    # By hand: 4711 has 10.5 and 3, 4712 has 8 and a gap, 10 has 2.25.
    assert cells["nace = 4711, region = Øst"] == 10.5
    assert cells["nace = 4711, region = Total"] == 13.5
    assert cells["nace = 4712, region = Total"] == 8.0
    assert cells["nace = Total, region = N"] == 3.25
    assert cells["nace = Total, region = Total"] == 23.75


@pytest.mark.parametrize(
    ("content", "what"),
    [(f, w) for f, w in (("parquet", "a Parquet file"), ("excel", "a workbook"), ("spss", "an SPSS file"))]
    + [("stata", "a Stata file"), ("sas", "a SAS file")],
)
@pytest.mark.parametrize("said", ["csv", "parquet", "excel", "stata"])
def test_a_file_of_another_kind_is_recognised(content: str, what: str, said: str, tmp_path: Path):
    if content == said:
        return
    write(tmp_path, content)
    [path] = tmp_path.iterdir()
    other = path.rename(tmp_path / "units.dat")
    assert say(f'{said} "{other.name}"', tmp_path) == [f"SDC302 …/units.dat is {what}, and the policy says `{said}`"]


def test_text_is_no_parquet(tmp_path: Path):
    (tmp_path / "d.parquet").write_text("id,nace\n1,2\n")
    assert say('parquet "d.parquet"', tmp_path) == ["SDC302 …/d.parquet is text, and the policy says `parquet`"]


@pytest.mark.parametrize("format", ["excel", "spss", "stata", "sas", "gzip", "zstd"])
def test_half_a_file_is_said(format: str, tmp_path: Path):
    origin = write(tmp_path, format)
    [path] = tmp_path.iterdir()
    path.write_bytes(path.read_bytes()[: path.stat().st_size * 2 // 3])
    [said] = say(origin, tmp_path)
    assert said.startswith("SDC302 cannot read …/d.") and "not a whole" in said


@pytest.mark.parametrize("format", ["excel", "spss", "stata", "sas"])
def test_a_column_that_is_missing_is_named(format: str, tmp_path: Path):
    origin = write(tmp_path, format)
    [said] = say(origin, tmp_path, SUM.replace("sum turnover", "sum turnovr"))
    assert said.startswith("SDC303 no column `turnovr` in …/d.")


@pytest.mark.parametrize("format", ["excel", "spss", "stata", "sas"])
def test_numbers_with_decimals_are_no_codes(format: str, tmp_path: Path):
    origin = write(tmp_path, format)
    policy = SUM.replace("column unit", 'column nace = "turnover"\n  column unit').replace(
        "sum turnover; only where turnover >= 0", "count"
    )
    [said] = say(origin, tmp_path, policy)
    assert said.startswith("SDC306 numbers with decimals where a code belongs, in column `turnover`")


def test_a_sheet_by_its_name_and_header(tmp_path: Path):
    workbook(tmp_path / "d.xlsx", "Q 1", above=3)
    origin = 'excel "d.xlsx" { sheet "Q 1"; header 4 }'
    assert problem_of(SUM.format(origin=origin), tmp_path).tables
    assert say('excel "d.xlsx" { sheet "Q1"; header 4 }', tmp_path) == ["SDC302 …/d.xlsx has no sheet `Q1`"]
    assert say('excel "d.xlsx" { sheet "Q 1"; header 99 }', tmp_path)[0].startswith("SDC30")


def test_rows_are_counted_as_the_sheet_does(tmp_path: Path):
    bad = FRAME.with_columns(region=pl.when(pl.col("id") == "d").then(pl.lit("XX")).otherwise("region"))
    workbook(tmp_path / "d.xlsx", "Data", 2, bad)
    _, found = bind_text(POLICY.format(origin='excel "d.xlsx" { sheet "Data"; header 3 }'), tmp_path)
    [wrong] = [d for d in found if d.code == "SDC304"]
    # Header in row 3, so a, b, c, d stand in rows 4, 5, 6, 7.
    assert "row 7" in str(wrong.marks[0].place)


def test_packed_files_of_a_folder(tmp_path: Path):
    (tmp_path / "parts").mkdir()
    text = FRAME.write_csv().encode()
    (tmp_path / "parts" / "1.csv.gz").write_bytes(gzip.compress(text[: text.index(b"c,")]))
    (tmp_path / "parts" / "2.csv").write_bytes(text[: text.index(b"\n") + 1] + text[text.index(b"c,") :])
    problem = problem_of(SUM.format(origin='csv "parts"'), tmp_path)
    assert problem.dataset["a"].values.max() == 23.75


def test_what_unpacks_to_too_much_is_refused():
    bomb = gzip.compress(bytes(1 << 20))
    out, found = unpacked(bomb, "x.csv.gz", None, largest=1 << 16)
    assert out is None and [d.code for d in found] == ["SDC302"]
    assert "more than 65,536 bytes" in found[0].headline
    assert unpacked(bomb, "x.csv.gz", None, largest=1 << 20)[0] == bytes(1 << 20)


def test_two_gzip_files_end_to_end_are_one():
    assert unpacked(gzip.compress(b"a\n") + gzip.compress(b"b\n"), "x", None)[0] == b"a\nb\n"
    assert unpacked(gzip.compress(b"a\n") + b"rest", "x", None)[0] is None


def test_every_kind_of_a_reader_is_known():
    assert {kind for name in READERS.built_in_names for kind in READERS[name].holds} <= set(KINDS)
    assert all(kind.format in READERS.built_in_names for kind in KINDS.values() if kind.format not in (None, "duckdb"))


def test_a_wrong_encoding_is_said(tmp_path: Path):
    pyreadstat.write_xport(FRAME.cast({"nace": pl.Float64}), tmp_path / "d.xpt")
    raw = (tmp_path / "d.xpt").read_bytes().replace("Øst".encode(), b"\xd8st ")
    (tmp_path / "d.xpt").write_bytes(raw)
    [said] = say('sas "d.xpt"', tmp_path)
    assert said.startswith("SDC317")
    assert say('sas "d.xpt" { encoding "cp1252" }', tmp_path) == []
