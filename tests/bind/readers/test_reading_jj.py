import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sdcdsl.bind.readers.jj import JJTable, jj_text, read_jj
from sdcdsl.diagnostics import FilePlace, Source

# 10 = 4 + 3 + 3
SMALL = """0
4
0 10 10 s 0 100 0 0 0
1 4 4 u 0 100 1 2 0.5
2 3 3 s -1e20 1e20 0 0 0
3 3 3 z 3 3 0 0 0
1
0 4 : 0 ( -1 ) 1 ( 1 ) 2 ( 1 ) 3 ( 1 )
"""


def read(text):
    return read_jj(Source("t.jj", text))


def refused(text):
    table, problems = read(text)
    assert table is None
    assert problems
    return problems


def same(one: JJTable, other: JJTable) -> bool:
    return all(np.array_equal(getattr(one, f.name), getattr(other, f.name)) for f in dataclasses.fields(JJTable))


def test_small_file_field_by_field():
    table, problems = read(SMALL)
    assert problems == []
    assert table is not None
    assert table.index.tolist() == [0, 1, 2, 3]
    assert table.a.tolist() == [10, 4, 3, 3]
    assert table.weight.tolist() == [10, 4, 3, 3]
    assert table.status.tolist() == ["s", "u", "s", "z"]
    assert table.low.tolist() == [0, 0, -np.inf, 3]
    assert table.high.tolist() == [100, 100, np.inf, 3]
    assert table.lpl.tolist() == [0, 1, 0, 0]
    assert table.upl.tolist() == [0, 2, 0, 0]
    assert table.spl.tolist() == [0, 0.5, 0, 0]
    assert table.coefficient.tolist() == [-1, 1, 1, 1]
    assert table.cell_of.tolist() == [0, 1, 2, 3]
    assert table.equation_of.tolist() == [0, 0, 0, 0]
    assert table.rhs.tolist() == [0]


@pytest.mark.parametrize(
    "written_otherwise",
    [
        SMALL.replace("( ", "(").replace(" )", ")"),
        SMALL.replace(" : ", ":"),
        SMALL.replace("1 ( 1 )", "1(1)"),  # only one of them glued
        SMALL.replace("\n", "\r\n"),
        SMALL.replace(" ", "\t"),
        SMALL.replace(" ", "   ") + "\n\n",
        SMALL.replace(" s ", " S "),
        SMALL.replace("1e20", "inf"),
    ],
)
def test_layout_does_not_matter(written_otherwise):
    expected, _ = read(SMALL)
    table, problems = read(written_otherwise)
    assert problems == []
    assert table is not None and expected is not None
    assert same(table, expected)


def test_cell_numbers_may_be_anything():
    cells = "30 5 5 s 0 9 0 0 0\n-7 2 2 s 0 9 0 0 0\n12 4 4 s 0 9 0 0 0\n"
    table, problems = read(f"0\n3\n{cells}1\n1 3 : 30 (1) -7 (-1) 12 (-0.5)\n")  # 5 - 2 - 4/2 = 1
    assert problems == []
    assert table is not None
    assert table.index.tolist() == [30, -7, 12]
    assert table.cell_of.tolist() == [0, 1, 2]
    assert table.rhs.tolist() == [1]


def test_a_table_without_relations():
    table, problems = read("0\n1\n5 1.5 1 s 0 2 0 0 0\n0\n")
    assert problems == []
    assert table is not None
    assert len(table.rhs) == len(table.cell_of) == 0


@pytest.mark.parametrize(
    ("text", "code", "line", "says"),
    [
        (SMALL.replace("1 4 4 u", "1 4 4 q"), "SDC322", 4, "`q`"),
        (SMALL.replace("3 3 3 z", "2 3 3 z"), "SDC305", 6, "cell 2"),
        (SMALL.replace("0 10 10", "0 nan 10"), "SDC307", 3, "`nan`"),
        (SMALL.replace("0 10 10", "0 10 inf"), "SDC307", 3, "`inf`"),
        (SMALL.replace("0 10 10", "0 ten 10"), "SDC306", 3, "`ten`"),
        (SMALL.replace("0 10 10", "0.5 10 10"), "SDC313", 3, "`0.5`"),
        (SMALL.replace("1 4 4 u", "1 4 u"), "SDC313", 4, "1 4 u"),
        (SMALL.replace("u 0 100", "u 100 0"), "SDC313", 4, "between 100 and 0"),
        (SMALL.replace("1 2 0.5", "1 -2 0.5"), "SDC313", 4, "-2"),
        (SMALL.replace("0 4 :", "0 5 :"), "SDC313", 8, "says 5 cells, lists 4"),
        (SMALL.replace("0 4 :", "inf 4 :"), "SDC313", 8, "`inf`"),
        (SMALL.replace("3 ( 1 )", "3 ( x )"), "SDC313", 8, "`3 ( x )`"),
        (SMALL.replace("3 ( 1 )", "3 1"), "SDC313", 8, "`3 1`"),
        (SMALL.replace("3 ( 1 )", "9 ( 1 )"), "SDC313", 8, "9"),
        (SMALL.replace("3 ( 1 )", "1e300 ( 1 )"), "SDC313", 8, "1e300"),
        (SMALL.replace("\n1\n0 4", "\n0 4"), "SDC313", 7, "0 4 :"),
        ("1" + SMALL[1:], "SDC313", 1, "`1`"),
        (SMALL.replace("0\n4\n", "0\nfour\n"), "SDC313", 2, "`four`"),
        (SMALL.replace("0\n4\n", "0\n-4\n"), "SDC313", 2, "`-4`"),
    ],
)
def test_mistakes_are_named_with_their_line(text, code, line, says):
    (problem,) = refused(text)
    assert problem.code == code
    assert isinstance(problem.place, FilePlace)
    assert problem.place.name == "t.jj"
    assert problem.place.line == line
    assert says in problem.marks[0].label


@pytest.mark.parametrize(
    ("text", "code", "headline"),
    [
        ("", "SDC308", "empty"),
        (" \n\n", "SDC308", "empty"),
        ("0\n", "SDC313", "number of cells"),
        (SMALL.replace("0\n4\n", "0\n5\n"), "SDC313", "cell 5 of 5 has 1 field"),
        ("\n".join(SMALL.split("\n")[:4]), "SDC313", "after 2 cells of 4"),
        ("\n".join(SMALL.split("\n")[:6]), "SDC313", "without relations"),
        (SMALL.replace("\n1\n", "\n2\n"), "SDC313", "says 2 relations and has 1"),
    ],
)
def test_files_that_end_too_early(text, code, headline):
    (problem,) = refused(text)
    assert problem.code == code
    assert headline in problem.headline


def test_a_wrong_sum_names_cells_sums_and_difference():
    (problem,) = refused(SMALL.replace("1 4 4 u", "1 1204 4 u"))
    assert problem.code == "SDC301"
    assert problem.place is not None
    assert str(problem.place) == "t.jj:8 (relation 1)"
    # 1204 + 3 + 3 = 1210 against 10
    assert problem.marks[0].label == "cells 1, 2 and 3 sum to 1 210, cell 0 to 10 (off by 1 200)"


def test_a_constant_counts_as_a_side():
    (problem,) = refused(SMALL.replace("0 4 :", "2 4 :"))
    assert problem.marks[0].label == "cells 1, 2 and 3 sum to 10, cell 0 and the constant 2 to 12 (off by -2)"


def test_sums_may_be_off_by_rounding_only():
    def with_total(total):
        cells = f"0 {total} 1 s 0 9 0 0 0\n1 500000 1 s 0 9 0 0 0\n2 500000 1 s 0 9 0 0 0\n"
        return f"0\n3\n{cells}1\n0 3 : 0 (-1) 1 (1) 2 (1)\n"

    # a millionth of the sum of absolute terms, 2 000 000, is 2
    assert read(with_total("1000001.9"))[0] is not None
    assert read(with_total("1000002.1"))[0] is None


def test_overflowing_sums_do_not_pass():
    text = "0\n2\n0 1e308 1 s 0 9 0 0 0\n1 1e308 1 s 0 9 0 0 0\n1\n0 2 : 0 (10) 1 (10)\n"
    assert [p.code for p in refused(text)] == ["SDC301"]


def test_ten_offenders_and_the_count_of_the_rest():
    cells = "".join(f"{i} nan 1 s 0 9 0 0 0\n" for i in range(25))
    (problem,) = refused(f"0\n25\n{cells}0\n")
    assert len(problem.marks) == 10
    assert [m.place.line for m in problem.marks if isinstance(m.place, FilePlace)] == list(range(3, 13))
    assert problem.notes == ("and 15 more",)


def test_missing_file(tmp_path):
    table, problems = read_jj(tmp_path / "none.jj")
    assert table is None
    assert [p.code for p in problems] == ["SDC302"]


finite = st.floats(allow_nan=False, allow_infinity=False, width=64).filter(lambda x: abs(x) < 1e19)
level = st.floats(min_value=0, max_value=1e19)


@st.composite
def tables(draw):
    n = draw(st.integers(1, 8))
    index = draw(st.lists(st.integers(-(2**52), 2**52), min_size=n, max_size=n, unique=True))
    column = st.lists(finite, min_size=n, max_size=n).map(np.array)
    levels = st.lists(level, min_size=n, max_size=n).map(np.array)
    one, two = draw(column), draw(column)
    open_below = np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    open_above = np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    # Relations between cells of their own, so that any coefficients hold: rhs is what they sum to.
    a = np.array(draw(st.lists(st.integers(-(10**6), 10**6), min_size=n, max_size=n)), dtype=float)
    m = draw(st.integers(0, 4))
    cell_of, equation_of, coefficient, rhs = [], [], [], []
    for equation in range(m):
        cells = draw(st.lists(st.integers(0, n - 1), max_size=n, unique=True))
        weights = draw(st.lists(st.integers(-9, 9), min_size=len(cells), max_size=len(cells)))
        cell_of += cells
        equation_of += [equation] * len(cells)
        coefficient += [w / 2 for w in weights]
        rhs.append(sum(w / 2 * a[c] for w, c in zip(weights, cells, strict=True)))
    return JJTable(
        index=np.array(index),
        a=a,
        weight=draw(column),
        status=np.array(draw(st.lists(st.sampled_from("uszm"), min_size=n, max_size=n))),
        low=np.where(open_below, -np.inf, np.minimum(one, two)),
        high=np.where(open_above, np.inf, np.maximum(one, two)),
        lpl=draw(levels),
        upl=draw(levels),
        spl=draw(levels),
        coefficient=np.array(coefficient, dtype=float),
        cell_of=np.array(cell_of, dtype=int),
        equation_of=np.array(equation_of, dtype=int),
        rhs=np.array(rhs, dtype=float),
    )


@settings(max_examples=150, deadline=None)
@given(tables())
def test_what_is_written_reads_back_the_same(table):
    again, problems = read(jj_text(table))
    assert problems == []
    assert again is not None
    assert same(table, again)
    assert jj_text(again) == jj_text(table)


def test_integers_are_written_as_integers():
    table, _ = read(SMALL)
    assert table is not None
    assert jj_text(table) == SMALL.replace("1e20", "1e30")


def test_all_csplib_tables_read_and_round_trip(shared, tmp_path):
    files = sorted((shared / "csplib").glob("*.jj"))
    assert len(files) == 11
    for file in files:
        table, problems = read_jj(file)
        assert problems == [], file.name
        assert table is not None
        assert file.read_text().split("\n")[1] == str(len(table.index))
        (tmp_path / "again.jj").write_text(jj_text(table), encoding="ascii")
        again, problems = read_jj(tmp_path / "again.jj")
        assert problems == []
        assert again is not None
        assert same(table, again), file.name


def test_cbs_figures(shared):
    table, _ = read_jj(shared / "csplib" / "cbs.jj")
    assert table is not None
    # counted with grep and wc: 11 163 cells, 244 relations, the grand total first
    assert (len(table.index), len(table.rhs), table.a[0]) == (11163, 244, 240525)
    assert np.bincount(table.equation_of)[-1] == 61
