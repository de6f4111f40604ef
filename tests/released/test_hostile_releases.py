"""Whatever a file holds, reading it ends in a pattern or in diagnostics."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from sdcdsl.diagnostics import CODES
from sdcdsl.diagnostics.render import render
from sdcdsl.released import read_release
from tests.released.problems import VALUES, cells_csv, numbered, small

FIELD = st.one_of(
    st.sampled_from(["I", "II", "A", "Total", "", "x", "-", "5", "5-3", "[1, 2]", "1e400", "9" * 400, "S", "hidden"]),
    st.text(alphabet='0123456789.,;-+eExX"[] \t', max_size=12),
    st.text(max_size=5),
)
PROBLEM = small()


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from(
        [
            "activity,region,value",
            "activity,region,value,low,high,status",
            "cell,value",
            "I,A,20",
            "",
            "PAR1",
            "DATAFLOW,ACTIVITY,REGION,OBS_VALUE,CONF_STATUS",
        ]
    ),
    st.lists(st.lists(FIELD, max_size=6), max_size=6),
    st.sampled_from([None, "csv", "argus", "sdctable", "jj", "sdmx", "parquet"]),
)
def test_anything(header, rows, format):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = folder / "released.csv"
        path.write_text("\n".join([header, *(",".join(row) for row in rows)]), "utf-8", errors="replace", newline="")
        for problem in (PROBLEM, numbered(folder)):
            pattern, found = read_release(problem, {"t": path}, format=format, absent="hidden")
            assert (pattern is None) == bool(found)
            assert {d.code for d in found} <= set(CODES)
            assert not found or render(found)


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(st.sampled_from(list(VALUES)), FIELD.map(lambda text: text.replace("\n", " ")), max_size=4))
def test_anything_in_a_few_cells(changes):
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "released.csv"
        path.write_text(cells_csv("activity,region,value", changes), "utf-8", errors="replace", newline="")
        pattern, found = read_release(PROBLEM, {"t": path})
        assert (pattern is None) == bool(found)
