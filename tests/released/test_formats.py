"""Every format that is written reads back as what was written, whatever was published and whatever codes look like."""

from __future__ import annotations

import csv
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from sdcdsl.bind.hierarchy import CodeTree, DimensionCodes
from sdcdsl.bind.lattice import lattice
from sdcdsl.bind.readers.hrc import read_hrc
from sdcdsl.bind.readers.jj import jj_text, read_jj
from sdcdsl.bind.readers.rda import read_rda
from sdcdsl.bind.relations import relations
from sdcdsl.bind.table import BoundTable
from sdcdsl.bind.tabulation import roll_sum
from sdcdsl.diagnostics import FilePlace, has_errors
from sdcdsl.diagnostics.render import render
from sdcdsl.pattern import Pattern, adjusted, combined, ecta, hidden, intervals, perturbed, rounded
from sdcdsl.policy import document as d
from sdcdsl.policy import expressions as x
from sdcdsl.released import PublishedStatements, read_release
from sdcdsl.released.formula_guard import guarded, guarded_rows, unguarded
from sdcdsl.report.release import write_table
from sdcdsl.vocabulary.formats import WRITERS
from tests.bind.small_worlds import flat
from tests.released.problems import _problem, linked, numbered, printed, problems, same, small

ENDINGS = {"csv": "csv", "parquet": "parquet", "sdmx": "csv", "jj": "jj", "argus": "tab", "excel": "xlsx"}
ENDINGS |= {"cross_table": "csv", "pivot": "csv", "code_value": "csv"}
TELLING = ("csv", "parquet", "sdmx", "excel")  # formats that say everything a pattern does


def option(name: str, *values: object) -> d.Option:
    made = [x.Text(v) if isinstance(v, str) else x.Number(str(v)) for v in values]
    return d.Option(name, tuple(made))


def write(problem, pattern, folder: Path, format: str, *options: d.Option) -> dict[str, Path]:
    files = {t.name: folder / f"{t.name}.{ENDINGS[format]}" for t in problem.tables}
    for name, path in files.items():
        write_table(problem, pattern, name, d.FileReference(format, path.name, options), path)
    return files


def through(problem, pattern, format: str, *options: d.Option, statements=None, said: str | None = None) -> Pattern:
    with tempfile.TemporaryDirectory() as folder:
        files = write(problem, pattern, Path(folder), format, *options)
        again, found = read_release(problem, files, statements or PublishedStatements(), format=said)  # type: ignore[arg-type]
        assert not has_errors(found), render(found)
    assert again is not None
    return again


def test_all_formats_are_covered():
    assert set(ENDINGS) == {name for name, writer in WRITERS.built_in.items() if not writer.whole_block}


# ---- patterns --------------------------------------------------------------------------------------------


@st.composite
def patterns(draw, problem, forms: tuple[str, ...]) -> Pattern:
    """Some form for each cell; unions are nobody's."""
    a, n = problem.dataset["a"].values, problem.n
    whole = st.integers(0, 4)
    below = np.array([float(draw(whole)) for _ in range(n)])
    above = np.array([float(draw(whole)) for _ in range(n)])
    below[draw(st.integers(0, n - 1))] = np.inf
    v = a + below.clip(max=4) - above.clip(max=4)
    room = np.abs(v - a) + 1
    made = {
        "exact": hidden(a, np.zeros(n, dtype=bool)),
        "hidden": hidden(a, np.ones(n, dtype=bool)),
        "interval": intervals(a - below, a + above),
        "rounded": rounded(v, room),
        "perturbed": perturbed(v, room),
        "shares": ecta(np.where(a == 0, 0.0, a * 1.125), problem.dataset["status"].values == "u", 1.5, 0.25),
    }
    which = np.array([draw(st.sampled_from(forms)) for _ in range(n)], dtype=object)
    which[~problem.dataset["published"].values] = "hidden"
    return combined([(which == form, made[form]) for form in forms] + [(which == "hidden", made["hidden"])])


@settings(max_examples=25, deadline=None)
@given(problems(), st.data(), st.sampled_from(TELLING))
def test_every_pattern_in_formats_that_say_everything(problem, data, format):
    pattern = data.draw(patterns(problem, ("exact", "hidden", "interval", "rounded", "perturbed", "shares")))
    assert same(through(problem, pattern, format), printed(problem, pattern))


@settings(max_examples=30, deadline=None)
@given(problems(), st.data(), st.sampled_from(["jj", "argus", "cross_table", "pivot", "code_value"]))
def test_hidden_cells_and_intervals_in_the_others(problem, data, format):
    pattern = data.draw(patterns(problem, ("exact", "hidden", "interval")))
    assert same(through(problem, pattern, format), printed(problem, pattern))


@settings(max_examples=20, deadline=None)
@given(problems(), st.data(), st.sampled_from(sorted(ENDINGS)))
def test_adjusted_tables(problem, data, format):
    """Another additive table, some cells hidden besides: which figures are as they were is not told."""
    a = problem.dataset["a"].values
    drop = np.array([data.draw(st.integers(0, 3)) == 0 for _ in range(problem.n)])
    drop[-1] = True
    assume((a[~drop] != 0).any())
    v = a * (1 + 4 / 3)  # further than any rounding for display: 0.2 may be 0.15
    pattern = combined([(~drop, adjusted(v, v != a)), (drop, hidden(a, drop))])
    again = through(problem, pattern, format)
    expected = printed(problem, pattern)
    np.testing.assert_array_equal(again.value, expected.value)
    np.testing.assert_array_equal(again.status == "x", drop)
    assert not again.claims


@pytest.mark.parametrize("format", ["jj", "argus", "cross_table", "pivot", "code_value"])
def test_rounded_tables_with_the_base_said_beside_them(format):
    problem = small()
    a = problem.dataset["a"].values
    v = 10 * np.round(a / 10)
    v[[0, 4, 8, 12]] = a[[0, 4, 8, 12]]  # so that nothing must add up by chance
    base = np.where(v == a, 0.0, 10.0)
    pattern = rounded(v, base)
    again = through(problem, pattern, format, statements=PublishedStatements(deviation=10))
    np.testing.assert_array_equal(again.value, v)


@pytest.mark.parametrize("format", sorted(ENDINGS))
def test_linked_and_numbered_tables(tmp_path, format):
    for problem in (linked(), numbered(tmp_path)):
        a = problem.dataset["a"].values
        mask = np.zeros(problem.n, dtype=bool)
        mask[:3] = True
        pattern = hidden(a, mask)
        assert same(through(problem, pattern, format), pattern)
        assert same(through(problem, pattern, format, said=format), pattern)


# ---- codes -----------------------------------------------------------------------------------------------

HOSTILE = [
    "=1+2", "+49", "-5", "@SUM(A1)", "'=1+2", "''=x", "'plain", "\tTab", 'say "so"', '"', "a,b", "a;b", "a|b",
    "line\nbreak", "007", "7", "7.0", "1e5", "x", "NA", "nan", "..", "-", "Größe", "総計", "Ω\u0301", "\u200b",
    " lead", "trail ", "DATAFLOW", "value", "status", "5..30", "0", "#N/A", "%", "\\", "a\tb", "OBS_VALUE", "TRUE",
    "null",
]  # fmt: skip


@st.composite
def hostile_problems(draw):
    names = draw(st.sampled_from([("a", "b"), ("value", "status"), ("cell", "low"), ("x", "X"), ("code", "base")]))
    dims = []
    for name in names:
        plain = st.text(
            st.characters(codec="utf-8", exclude_characters="\r\x00", exclude_categories=["Cs"]), min_size=1
        )
        codes = draw(st.lists(st.sampled_from(HOSTILE) | plain, min_size=2, max_size=4, unique=True))
        assume(all(code.strip() for code in codes))
        dims.append(flat(name, codes[1:], codes[0]))
    made, found = lattice(dims)
    assert made is not None and not found
    leaves = np.where(made.is_leaf, [float(draw(st.integers(0, 9))) for _ in range(made.size)], 0.0)
    a = roll_sum(made, leaves)
    return _problem([BoundTable("t", "measure x", FilePlace("t"), relations(made), a, made)], draw)


@settings(max_examples=80, deadline=None)
@given(hostile_problems(), st.data(), st.sampled_from(sorted(ENDINGS)))
def test_codes_of_every_kind(problem, data, format):
    pattern = data.draw(patterns(problem, ("exact", "hidden", "interval")))
    codes = [code for dim in problem.tables[0].lattice.dimensions for code in dim.codes]
    if format == "argus":  # blanks around a code are padding there, as long as some code of the column has none
        assume(all(code == code.strip() for code in codes))
    assert same(through(problem, pattern, format, said=format), printed(problem, pattern))


@settings(max_examples=30, deadline=None)
@given(hostile_problems(), st.data())
def test_spreadsheet_safe(problem, data):
    pattern = data.draw(patterns(problem, ("exact", "hidden")))
    safe = option("spreadsheet_safe")
    assert same(through(problem, pattern, "csv", safe, said="csv"), printed(problem, pattern))
    with tempfile.TemporaryDirectory() as folder:
        [path] = write(problem, pattern, Path(folder), "csv", safe).values()
        frame = pl.read_csv(path, infer_schema=False)
    for column in frame.columns[:2]:
        assert not any(code.startswith(("=", "+", "-", "@", "\t", "\r")) for code in frame[column].to_list())


def coded(codes: list[str], value: tuple[float, ...]):
    """A problem of one dimension with these codes."""
    made, _ = lattice([flat("a", codes, "T")])
    assert made is not None
    table = BoundTable("t", "measure x", FilePlace("t"), relations(made), np.array(value), made)
    problem = replace(small(), tables=(table,))
    cells = slice(0, len(value))
    return replace(problem, dataset=problem.dataset.isel(cell=cells).assign(a=("cell", table.value)))


def test_codes_are_guarded_and_figures_are_not(tmp_path):
    problem = coded(["=1+2", "-b", "'=1", "'c"], (-9.0, -5.0, -1.0, -1.0, -2.0))
    pattern = hidden(problem.dataset["a"].values, np.zeros(5, dtype=bool))
    [path] = write(problem, pattern, tmp_path, "csv").values()
    lines = [line.split(",")[:2] for line in path.read_text().splitlines()]
    assert lines[1:] == [["T", "-9"], ["'=1+2", "-5"], ["'-b", "-1"], ["''=1", "-1"], ["'c", "-2"]]
    codes = ["T", "=1+2", "-b", "'=1", "'c"]
    assert unguarded(pl.read_csv(path, infer_schema=False)["a"], codes).to_list() == codes
    [path] = write(problem, pattern, tmp_path, "csv", option("spreadsheet_safe")).values()
    assert path.read_text().splitlines()[2].startswith('"\'=1+2",')


def test_the_guard_can_be_switched_off(tmp_path):
    problem = coded(["=1+2", "b;=1"], (3.0, 1.0, 2.0))
    pattern = hidden(problem.dataset["a"].values, np.zeros(3, dtype=bool))
    off = option("spreadsheet_safe", "no")
    [path] = write(problem, pattern, tmp_path, "csv", off).values()
    assert [line.split(",")[0] for line in path.read_text().splitlines()] == ["a", "T", "=1+2", "b;=1"]


def test_a_file_without_such_codes_is_as_it_was(tmp_path):
    problem = coded(["a-b", "c=d; e"], (-3.0, -1.0, -2.0))
    pattern = hidden(problem.dataset["a"].values, np.zeros(3, dtype=bool))
    [path] = write(problem, pattern, tmp_path, "csv").values()
    (tmp_path / "off").mkdir()
    [plain] = write(problem, pattern, tmp_path / "off", "csv", option("spreadsheet_safe", "no")).values()
    assert path.read_bytes() == plain.read_bytes()


def test_rows_of_text_and_figures_are_guarded():
    rows = [
        {"name": "=1+2", "low": "-inf", "high": -5, "said": "fine"},
        {"name": "x", "low": 1, "high": 2, "said": "@y"},
    ]
    text = guarded_rows(["name", "low", "high", "said"], rows, "\n")
    assert text == "name,low,high,said\n'=1+2,-inf,-5,fine\nx,1,2,'@y\n"
    text = guarded_rows(["name"], [{"name": "a;=1+2"}], "\n")
    assert text == '"name"\n"a;=1+2"\n'


@pytest.mark.parametrize(
    "code", ["=1+2", "+1", "-1", "@x", "\t=1", "\n=1", "＝1", "＋1", "－1", "＠x", "a;=1+2", "a\t=1"]
)
@pytest.mark.parametrize("said", [(), (option("spreadsheet_safe"),)])
def test_no_spreadsheet_finds_a_formula_whatever_its_separator(said, code: str, tmp_path):
    problem = coded([code, "b"], (3.0, 1.0, 2.0))
    pattern = hidden(problem.dataset["a"].values, np.array([False, True, True]))
    [path] = write(problem, pattern, tmp_path, "csv", *said).values()
    for separator in ",;\t":
        with path.open(encoding="utf-8", newline="") as file:
            fields = [field for row in csv.reader(file, delimiter=separator) for field in row]
        assert not [f for f in fields if f.startswith(tuple("=+-@\t\r\n＝＋－＠"))]


@settings(max_examples=30, deadline=None)
@given(st.lists(st.sampled_from(HOSTILE), min_size=3, max_size=8, unique=True))
@example(["=1", "'=1", "''=1"])
def test_guards_come_off_even_where_guarded_codes_are_codes(codes):
    column = pl.Series(codes)
    assert unguarded(guarded(column), codes).to_list() == codes
    assert unguarded(column, codes).to_list() == codes


# ---- what stands in the files ----------------------------------------------------------------------------


def suppressed(problem) -> Pattern:
    mask = np.zeros(problem.n, dtype=bool)
    for codes in (("II", "C"), ("II", "A"), ("III", "A"), ("III", "C")):
        mask[problem.tables[0].lattice.cell(dict(zip(("activity", "region"), codes, strict=True)))] = True
    return hidden(problem.dataset["a"].values, mask)


def test_sdmx_does_not_tell_the_sensitive_cell(tmp_path):
    problem = small()
    [path] = write(problem, suppressed(problem), tmp_path, "sdmx").values()
    frame = pl.read_csv(path, infer_schema=False)
    assert frame.columns == [
        "DATAFLOW", "ACTIVITY", "REGION", "OBS_VALUE", "OBS_STATUS", "CONF_STATUS", "LOWER_BOUND", "UPPER_BOUND",
        "COMMENT_OBS",
    ]  # fmt: skip
    assert set(frame["DATAFLOW"]) == {"SDC:T(1.0)"}
    missing = frame.filter(pl.col("OBS_VALUE").is_null())
    assert missing.select("OBS_STATUS", "CONF_STATUS").unique().rows() == [("Q", "N")]
    shown = frame.filter(pl.col("OBS_VALUE").is_not_null())
    assert shown.select("OBS_STATUS", "CONF_STATUS").unique().rows() == [("A", "F")]
    assert (len(missing), len(shown)) == (4, 12)


def test_sdmx_tells_it_if_asked(tmp_path):
    problem = small()
    options = option("mark_primary"), option("dataflow", "ESTAT:TURN(2.0)")
    [path] = write(problem, suppressed(problem), tmp_path, "sdmx", *options).values()
    frame = pl.read_csv(path, infer_schema=False).filter(pl.col("OBS_VALUE").is_null())
    reasons = {(r["ACTIVITY"], r["REGION"]): r["CONF_STATUS"] for r in frame.rows(named=True)}
    assert reasons == {("II", "C"): "C", ("II", "A"): "D", ("III", "A"): "D", ("III", "C"): "D"}
    assert set(frame["DATAFLOW"]) == {"ESTAT:TURN(2.0)"}


def test_sdmx_of_other_programs(tmp_path):
    """Version 2.0, confidential values for privileged readers, columns that are nobody's business."""
    problem = small()
    lines = ["STRUCTURE;STRUCTURE_ID;ACTION;activity;region;TIME_PERIOD;OBS_VALUE;OBS_STATUS;CONF_STATUS"]
    pattern, lattice = suppressed(problem), problem.tables[0].lattice
    assert lattice is not None
    for cell in range(problem.n):
        codes = lattice.codes(cell)
        a = problem.dataset["a"].values[cell]
        letters = "A;F" if pattern.status[cell] == "." else "A;D"
        lines.append(f"dataflow;X:Y(1.0);I;{codes['activity']};{codes['region']};2025;{a:g};{letters}")
    path = tmp_path / "eurostat.csv"
    path.write_text("\n".join(lines) + "\n")
    again, found = read_release(problem, {"t": path})
    assert not found and again is not None
    assert same(again, pattern)


@settings(max_examples=30, deadline=None)
@given(problems(), st.data())
def test_jj_files_are_made_of_what_is_published(problem, data):
    """Two tables that agree in all that is published give the same file, digit by digit."""
    a = problem.dataset["a"].values
    pattern = data.draw(patterns(problem, ("exact", "hidden", "interval")))
    other = problem.dataset.assign(a=("cell", np.where(pattern.status == ".", a, a + 1e6)))
    changed = replace(
        problem,
        dataset=other,
        tables=tuple(replace(t, value=t.value * 0 + 7) for t in problem.tables),
    )
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as two:
        for name, path in write(problem, pattern, Path(one), "jj").items():
            assert path.read_bytes() == write(changed, pattern, Path(two), "jj")[name].read_bytes()
            table, found = read_jj(path)
            assert table is not None and not found, render(found)
            assert set(table.status.tolist()) <= {"s", "m"}
            assert not table.lpl.any() and not table.upl.any() and (table.weight == 1).all()


def test_jj_of_a_protected_jj(tmp_path):
    """Cell 1 and 2 are hidden: their sum, 30, is all that the file knows."""
    problem = numbered(tmp_path)
    mask = np.array([False, True, True, False])
    [path] = write(problem, hidden(problem.dataset["a"].values, mask), tmp_path, "jj").values()
    assert path.read_text().splitlines() == [
        "0",
        "4",
        "0 60 1 s -1e30 1e30 0 0 0",
        "1 15 1 m -1e30 1e30 0 0 0",
        "2 15 1 m -1e30 1e30 0 0 0",
        "3 30 1 s -1e30 1e30 0 0 0",
        "1",
        "0 4 : 0 ( -1 ) 1 ( 1 ) 2 ( 1 ) 3 ( 1 )",
    ]


def test_a_jj_file_that_counts_cells_otherwise_is_refused(tmp_path):
    problem = small()
    [path] = write(problem, suppressed(problem), tmp_path, "jj").values()
    table, _ = read_jj(path)
    assert table is not None
    order = np.roll(np.arange(16), 1)
    moved = replace(table, cell_of=order[table.cell_of].astype(np.int32), a=np.ones(16) * 0.0)
    path.write_text(jj_text(moved))
    again, found = read_release(problem, {"t": path})
    assert again is None and [f.code for f in found] == ["SDC302"]


def test_argus_metadata_and_hierarchies(tmp_path):
    tree = CodeTree(("All", "N", "N1", "N2", "S"), np.array([-1, 0, 1, 1, 0], np.int32), np.ones(5, np.int8))
    dims = [DimensionCodes("region", tree.codes, (tree,)), flat("size", ["s", "l"])]
    made, _ = lattice(dims)
    assert made is not None
    a = roll_sum(made, np.where(made.is_leaf, 1.25, 0.0))
    table = BoundTable("t", "measure x", FilePlace("t"), relations(made), a, made)
    data = small().dataset.isel(cell=slice(0, made.size)).assign(a=("cell", a))
    problem = replace(small(), tables=(table,), dataset=data)
    mask = np.arange(made.size) == made.size - 1
    [path] = write(problem, hidden(a, mask), tmp_path, "argus").values()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["t-region.hrc", "t.rda", "t.tab"]
    assert path.read_text().splitlines()[0] == "All;T;7.5;S"
    assert path.read_text().splitlines()[-1] == "S;l;x;U"
    metadata, found = read_rda(path.with_suffix(".rda"))
    assert metadata is not None and not found
    assert (metadata.is_table, metadata.separator, metadata.unsafe) == (True, ";", "U")
    assert [(v.name, sorted(v.roles)) for v in metadata.variables] == [
        ("region", ["code"]), ("size", ["code"]), ("value", ["number"]), ("status", ["status"]),
    ]  # fmt: skip
    region, size, value, _ = metadata.variables
    assert (region.total, region.hierarchy_file, size.hierarchy_file) == ("All", "t-region.hrc", None)
    assert (size.total, value.decimals) == ("T", 2)
    again, found = read_hrc(tmp_path / "t-region.hrc", total="All")
    assert again is not None and not found
    assert (again.codes, again.parent.tolist()) == (tree.codes, tree.parent.tolist())
