import csv
import io
import math
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sdcdsl.bind.readers.csv_records import read_csv
from sdcdsl.bind.readers.records import ROW, ColumnSelection
from sdcdsl.diagnostics import FilePlace, Source
from tests.bind.readers.reading import read_records

AB = ColumnSelection(["a"], ["b"])


def read(text, asked=AB, **options):
    return read_records(Source("t.csv", text), asked, **options)


def rows(result):
    records, problems = result
    assert problems == []
    assert records is not None
    return records.frame.collect().rows()


def only(result):
    records, problems = result
    assert records is None
    (problem,) = problems
    return problem


# ---- what is read --------------------------------------------------------------------------


def test_codes_stay_text_and_numbers_become_floats():
    records, _ = read("a,b\n01,2\n1,3.5\n10100.0,-1e3\n")
    assert records is not None
    frame = records.frame.collect()
    assert frame.schema == {ROW: pl.UInt32, "a": pl.String, "b": pl.Float64}
    assert frame.rows() == [(2, "01", 2.0), (3, "1", 3.5), (4, "10100.0", -1000.0)]


@pytest.mark.parametrize("delimiter", list(",;\t|"))
def test_delimiters_are_found(delimiter):
    assert rows(read("a,b\nx,1\n".replace(",", delimiter))) == [(2, "x", 1.0)]


def test_the_delimiter_that_shows_the_asked_columns_wins():
    # more commas than semicolons in the header, yet the columns are between semicolons
    text = "a;b;note, with, many, commas\nx;1;y\n"
    assert rows(read(text)) == [(2, "x", 1.0)]


def test_an_unusual_delimiter_can_be_given():
    assert rows(read("a#b\nx#1\n", delimiter="#")) == [(2, "x", 1.0)]
    assert only(read("a,b\n", delimiter="##")).code == "SDC302"


def test_decimal_comma():
    asked = ColumnSelection(["a"], ["b"], decimal=",")
    assert rows(read("a;b\nx;1234,5\ny;7\n", asked)) == [(2, "x", 1234.5), (3, "y", 7.0)]
    assert rows(read('a,b\nx,"0,5"\n', asked)) == [(2, "x", 0.5)]
    assert only(read("a;b\nx;1.234,5\n", asked)).marks[0].label == "found `1.234,5`"


def test_missing_values_are_null_and_only_those():
    asked = ColumnSelection(["a"], ["b"], missing=["NA", "."])
    assert rows(read("a,b\nNA,.\n,\nN,  4 \n", asked)) == [(2, None, None), (3, None, None), (4, "N", 4.0)]
    assert rows(read("a,b\nNA,1\n")) == [(2, "NA", 1.0)]


def test_blanks_around_column_names_are_layout():
    assert rows(read(" a , b\n x ,1\n")) == [(2, " x ", 1.0)]


def test_quotes():
    text = 'a,b\n"x, y",1\n"say ""no""",2\n z ,3\n'
    assert rows(read(text)) == [(2, "x, y", 1.0), (3, 'say "no"', 2.0), (4, " z ", 3.0)]


def test_line_numbers_are_those_an_editor_shows():
    assert rows(read("\n\na,b\nx,1\n\ny,2\n")) == [(4, "x", 1.0), (6, "y", 2.0)]
    # the first record ends on line 3
    assert rows(read('a,b\n"two\nlines",1\nz,2\n')) == [(3, "two\nlines", 1.0), (4, "z", 2.0)]


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_line_endings(ending):
    assert rows(read("a,b\nx,1\ny,2\n".replace("\n", ending))) == [(2, "x", 1.0), (3, "y", 2.0)]


def test_quotes_inside_plain_fields_are_text():
    assert rows(read('a,b\n5" pipe,1\nz,2\n')) == [(2, '5" pipe', 1.0), (3, "z", 2.0)]


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-8", "utf-16", "utf-8-sig"])
def test_encodings(tmp_path, encoding):
    file = tmp_path / "t.csv"
    file.write_bytes("a,b\nÅsnes,1\n".encode(encoding))
    said = None if encoding.startswith("utf") else encoding
    assert rows(read_records(file, AB, encoding=said)) == [(2, "Åsnes", 1.0)]


fields = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=8)


@settings(max_examples=120, deadline=None)
@given(
    st.lists(st.tuples(fields, st.floats(allow_nan=False, allow_infinity=False)), min_size=1, max_size=8),
    st.sampled_from(",;\t|"),
)
def test_any_text_survives(records, delimiter):
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter, lineterminator="\n")
    writer.writerow(["a", "b"])
    writer.writerows((code, repr(value)) for code, value in records)
    assert [(a, b) for _, a, b in rows(read(out.getvalue(), delimiter=delimiter))] == records


# ---- what is refused -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "code", "place", "label"),
    [
        ("a,b\nx,1\ny,one\n", "SDC306", "t.csv:3 (column b)", "found `one`"),
        ("a,b\nx,inf\n", "SDC307", "t.csv:2 (column b)", "found `inf`"),
        ("a,b\nx,NaN\n", "SDC307", "t.csv:2 (column b)", "found `NaN`"),
        ("a,b\nx,1e999\n", "SDC307", "t.csv:2 (column b)", "found `1e999`"),
        ("a,b\nx,1_000\n", "SDC306", "t.csv:2 (column b)", "found `1_000`"),
        ("a,b\nx,0x10\n", "SDC306", "t.csv:2 (column b)", "found `0x10`"),
        ("a,B\nx,1\n", "SDC303", "t.csv:1", "did you mean `B`?"),
        ("a,b\nx,1\ny\n", "SDC302", "t.csv:3", "1 field"),
        ("a,b\nx,1,2\n", "SDC302", "t.csv:2", "3 fields"),
        ('a,b\n"never closed,1\nx,2\n', "SDC302", "t.csv:3", "1 field"),
        ("a,b,b\nx,1,2\n", "SDC302", "t.csv:1", ""),
        ("a,b\n", "SDC308", "t.csv:1", ""),
        ("", "SDC308", "t.csv", ""),
        ("\n\n", "SDC308", "t.csv", ""),
    ],
)
def test_mistakes(text, code, place, label):
    problem = only(read(text))
    assert (problem.code, str(problem.place), problem.marks[0].label) == (code, place, label)


def test_short_rows_hide_behind_an_empty_last_column():
    text = 'a,b,c\nx,1,\ny,2\n"z",3,""\n'
    problem = only(read(text))
    assert [str(m.place) for m in problem.marks] == ["t.csv:3"]
    assert rows(read(text.replace("y,2\n", "y,2,\n"))) == [(2, "x", 1.0), (3, "y", 2.0), (4, "z", 3.0)]


@pytest.mark.parametrize("row", ["x,1,n,234,567", "x,1,n,5", "x,1,n,", "x,1,n,,567", '"x",1,n,5', "x,1,,5", ",,,,"])
@pytest.mark.parametrize("at", [0, 1, 50])
@pytest.mark.parametrize("also", ["", "y,2,", "\n"])
def test_fields_behind_the_last_column_are_not_lost_in_silence(row, at, also):
    """A number with a comma in it is two fields, and its first part must not be taken for it."""
    lines = ["y,2,o"] * 60 + [also]
    lines.insert(at, row)
    found = only(read("a,b,note\n" + "\n".join(lines) + "\n"))
    assert found.code == "SDC302"
    assert [str(m.place) for m in found.marks] == [f"t.csv:{at + 2}"]


@given(st.lists(st.lists(st.sampled_from(["", "1", '"1,2"', '"x"', "é"]), max_size=5), min_size=1, max_size=6))
def test_rows_are_as_wide_as_the_header_or_refused(records):
    text = "a,b,c\n" + "".join(",".join(row) + "\n" for row in records)
    parsed = list(csv.reader(io.StringIO(text)))[1:]
    fine = all(len(row) in (0, 3) for row in parsed)
    found, problems = read(text, ColumnSelection(["a"], []))
    if not fine:
        assert [p.code for p in problems] == ["SDC302"]
    elif any(parsed):
        assert found is not None
        assert found.frame.collect()["a"].to_list() == [row[0] or None for row in parsed if row]


@pytest.mark.parametrize("text", ["a,b", "a,b\n", "\na,b"])
def test_a_header_and_nothing_below_it(text):
    assert only(read(text)).code == "SDC308"


def test_a_record_without_asked_values_is_not_a_blank_line():
    assert rows(read("a,b,c\n,,here\n\n  \n,,\nx,1,\n")) == [(2, None, None), (5, None, None), (6, "x", 1.0)]


def test_ten_first_and_the_count_of_the_rest():
    problem = only(read("a,b\n" + "x,?\n" * 25))
    assert [m.place.line for m in problem.marks if isinstance(m.place, FilePlace)] == list(range(2, 12))
    assert problem.notes == ("and 15 more",)


def test_two_columns_two_problems():
    records, problems = read("a,b,c\nx,1,no\ny,no,2\n", ColumnSelection(["a"], ["b", "c"]))
    assert records is None
    assert [str(p.place) for p in problems] == ["t.csv:3 (column b)", "t.csv:2 (column c)"]


def test_advice_fits_the_offenders():
    assert "decimal mark" in (only(read("a;b\nx;1,5\n")).help or "")
    assert "missing" in (only(read("a,b\nx,NA\n")).help or "")
    assert only(read("a,b\nx,NA\ny,why\n")).help is None


def test_long_offenders_are_cut():
    assert len(only(read("a,b\nx," + "y" * 100_000 + "\n")).marks[0].label) < 60


@pytest.mark.parametrize(
    ("raw", "encoding", "place"),
    [
        (b"a,b\n\xc5snes,1\n", None, "{}:2:1"),
        ("a,b\nÅsnes,1\n".encode(), "latin-1", "{}"),
        (b"a,b\n\x81,1\n", "cp1252", "{}:2:1"),
        (b"a,b\nx,1\n", "klingon", "{}"),
        (b"a,b\nx,1\n", "zlib_codec", "{}"),
    ],
)
def test_wrong_encodings(tmp_path, raw, encoding, place):
    file = tmp_path / "t.csv"
    file.write_bytes(raw)
    problem = only(read_records(file, AB, encoding=encoding))
    assert (problem.code, str(problem.place)) == ("SDC317", place.format(file))


def test_files_that_are_not_there(tmp_path):
    for path in (tmp_path, tmp_path / "none.csv", tmp_path / "none.parquet", tmp_path / "a\0b.csv"):
        assert only(read_records(path, AB)).code == "SDC302"


def test_a_column_is_a_code_or_a_number():
    with pytest.raises(ValueError, match="code and number"):
        ColumnSelection(["a"], ["a"])


# ---- Parquet -------------------------------------------------------------------------------


@pytest.fixture
def parquet(tmp_path):
    def write(**columns):
        file = tmp_path / "t[1].parquet"  # must not be taken for a pattern
        pl.DataFrame(columns).write_parquet(file)
        return file

    return write


def test_parquet_stays_lazy(parquet):
    records, problems = read_records(parquet(a=["01", None], b=[1, 2], other=[0, 0]), AB)
    assert problems == []
    assert records is not None
    assert isinstance(records.frame, pl.LazyFrame)
    assert "PARQUET" in records.frame.explain().upper()
    assert records.frame.collect().rows() == [(1, "01", 1.0), (2, None, 2.0)]
    assert records.frame.collect_schema()["b"] == pl.Float64


def test_parquet_kinds(parquet):
    file = parquet(a=pl.Series(["x", "y"], dtype=pl.Categorical), b=["1,5", ""], i=[7, 8])
    assert rows(read_records(file, ColumnSelection(["a", "i"], ["b"], decimal=","))) == [
        (1, "x", "7", 1.5),
        (2, "y", "8", None),
    ]


def test_parquet_mistakes(parquet):
    file = parquet(a=["x", "y"], b=[1.0, math.nan], t=["1", "one"], deep=[[1], [2]], z=[1, 2])
    problem = only(read_records(file, AB))
    assert (problem.code, str(problem.place)) == ("SDC307", f"{file} (row 2, column b)")
    problem = only(read_records(file, ColumnSelection(["a"], ["t"])))
    assert (problem.code, str(problem.place)) == ("SDC306", f"{file} (row 2, column t)")
    assert only(read_records(file, ColumnSelection(["deep"], ["z"]))).code == "SDC306"
    assert only(read_records(file, ColumnSelection(["a"], ["zz"]))).marks[0].label == "did you mean `z`?"
    assert only(read_records(parquet(a=[], b=[]), AB)).code == "SDC308"


def test_parquet_garbage(tmp_path):
    file = tmp_path / "t.parquet"
    for raw in (b"", b"PAR1", b"PAR1garbage" * 100 + b"PAR1", b"a,b\n1,2\n"):
        file.write_bytes(raw)
        assert only(read_records(file, AB)).code == "SDC302"


# ---- offices' files ------------------------------------------------------------------------


def test_sosial_fiktiv(shared):
    asked = ColumnSelection(["region", "fylke", "mnd"], ["ant"])
    records, problems = read_records(shared / "tables/ssbtools/sosialFiktiv.csv", asked)
    assert problems == []
    assert records is not None
    frame = records.frame.collect()
    assert frame.height == 5244
    assert frame.row(0) == (2, "10100.0", "1.0", "1_5", 103.0)


def test_columns_without_a_name_are_called_by_their_place(shared):
    records, problems = read_records(
        shared / "tables/cox3/values.csv", ColumnSelection(["column 1", "column 2"], ["c1", "c2", "total"])
    )
    assert problems == []
    assert records is not None
    # `p1,r2,1994,,5593,…,18375`: the second row of values, with nothing in c2
    assert records.frame.collect().row(1) == (3, "p1", "r2", 1994.0, None, 18375.0)


def test_every_shared_csv_reads_as_text(shared):
    files = [f for f in (shared / "tables").rglob("*.csv") if f.parent.name != "cox3"]
    files += list((shared / "bench").rglob("*.csv"))
    assert len(files) >= 14
    for file in files:
        header = file.read_text().split("\n", 1)[0].split(",")
        records, problems = read_records(file, ColumnSelection(header))
        assert problems == [], file.name
        assert records is not None
        expected = list(csv.reader(file.read_text().splitlines()))[1:]
        found = records.frame.drop(ROW).collect().rows()
        assert [[f or "" for f in row] for row in found] == expected, file.name


@pytest.mark.parametrize(
    "entries",
    [
        ("1", "-2.5", "1e5", "0.1", "", "123456789.123456789", "5e-324"),
        *(
            (" 5", "1"),
            ("5 ", "1"),
            ("+5", "1"),
            (".5", "5."),
            ("1e400", "1"),
            ("nan", "1"),
            ("inf", "1"),
            ('"5"', "1"),
        ),
        *(("1_0", "1"), ("0x10", "1"), ("1,5", "1"), ("x", "1"), ('""', "1"), (" ", "1"), ("1e", "2"), ("--1", "1")),
    ],
)
def test_numbers_are_the_same_whether_or_not_texts_are_made_of_them(entries: tuple[str, ...], tmp_path: Path):
    """Another word for missing values takes the other way."""
    path = tmp_path / "d.csv"
    path.write_text("id;v\n" + "".join(f"a;{entry}\n" for entry in entries))
    straight, by_text = (
        read_csv(path, ColumnSelection(["id"], ["v"], ".", missing), delimiter=";") for missing in ((), ("~",))
    )
    assert [(d.code, d.headline, str(d.marks)) for d in straight[1]] == [
        (d.code, d.headline, str(d.marks)) for d in by_text[1]
    ]
    if straight[0] is not None and by_text[0] is not None:
        assert straight[0].frame.collect().equals(by_text[0].frame.collect(), null_equal=True)
    assert (straight[0] is None) == (by_text[0] is None)
