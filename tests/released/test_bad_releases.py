"""Releases that cannot be audited: the exact code, and the cells by name."""

from __future__ import annotations

import pytest

from sdcdsl.diagnostics.render import render
from sdcdsl.released import Layout, PublishedStatements, read_release, write_release_csv
from sdcdsl.released.read import _PLAIN
from tests.bind.policies import cell
from tests.released.problems import VALUES, cells_csv, linked, pattern_of, refused, released, small, words_of

HEADER = "activity,region,value"
ALL = "activity,region,value,low,high,status"
IIC = ("II", "C")

CASES = {
    "an unknown code": (cells_csv(HEADER).replace("II,C", "II,D"), "SDC304", ["released.csv:7", "`D`"]),
    "no code": (cells_csv(HEADER).replace("\nII,C", "\nII,"), "SDC304", ["no code"]),
    "a cell twice": (cells_csv(HEADER) + "II,C,22\n", "SDC305", ["activity = II, region = C"]),
    "a cell missing": (cells_csv(HEADER, {IIC: "absent"}), "SDC309", ["activity = II, region = C"]),
    "text": (cells_csv(HEADER, {IIC: "many"}), "SDC306", ["released.csv:7 (column value)", "`many`"]),
    "an infinite figure": (cells_csv(HEADER, {IIC: "inf"}), "SDC306", ["`inf`"]),
    "text as an end": (cells_csv(ALL, {IIC: ",few,30,"}, ",,,"), "SDC306", ["column low", "`few`"]),
    "an interval as an end": (cells_csv(ALL, {IIC: ",1-2,30,"}, ",,,"), "SDC306", ["`1-2`"]),
    "a status nobody knows": (cells_csv(ALL, {IIC: "22,,,Q"}, ",,,"), "SDC322", ["`Q`"]),
    "an empty file": ("\n \n", "SDC308", ["is empty"]),
    "no rows": (HEADER + "\n", "SDC308", ["no rows"]),
    "a dimension missing": (cells_csv("activity,place,value"), "SDC303", ["`region`", "`place`"]),
    "no values": (cells_csv("activity,region,2024,2025", {}, ",1"), "SDC303", ["no column `value`", "2024", "2025"]),
    "a row too long": (cells_csv(HEADER, {IIC: "22,1"}), "SDC302", ["released.csv:7", "4 fields"]),
    "a quote never closed": (HEADER + '\nI,A,"' + "9," * 100_000, "SDC302", ["cut into columns"]),
    "the truth beside an interval": (
        cells_csv(ALL, {IIC: ",5,20,"}, ",,,"),
        "SDC403",
        ["activity = II, region = C: released 5 to 20, true 22"],
    ),
    "an interval of one wrong value": (cells_csv(ALL, {IIC: ",20,20,"}, ",,,"), "SDC403", ["released 20, true 22"]),
    "upside down": (
        cells_csv(ALL, {IIC: ",30,5,"}, ",,,"),
        "SDC404",
        ["released.csv:7 (column low)", "activity = II, region = C: from 30 to 5"],
    ),
    "upside down in one field": (cells_csv(HEADER, {IIC: "30-5"}), "SDC404", ["from 30 to 5"]),
    "a deviation below zero": (cells_csv(HEADER + ",deviation", {IIC: "22,-1"}, ",0"), "SDC404", ["below zero", "-1"]),
    "a mistyped figure": (
        cells_csv(HEADER, {IIC: "72"}),
        "SDC405",
        [
            "in 2 relations",
            "activity = Total, region = C (along activity): the parts sum to 82, the total is 32",
            "activity = II, region = Total (along region): the parts sum to 99, the total is 49",
        ],
    ),
    "intervals that a changed total does not meet": (
        cells_csv(HEADER, {IIC: "20..24", ("II", "A"): "..10", ("II", "Total"): "60", ("Total", "A"): "x"}),
        "SDC405",
        ["activity = II, region = Total (along region): the parts sum to -inf to 53, the total is 60"],
    ),
    "hidden and printed": (
        cells_csv(ALL, {IIC: "22,,,hidden"}, ",,,"),
        "SDC406",
        ["released.csv:7 (column status)", "activity = II, region = C: called hidden, but shows 22"],
    ),
    "hidden with an interval": (cells_csv(ALL, {IIC: ",18,30,hidden"}, ",,,"), "SDC406", ["but shows 18 to 30"]),
    "published and crossed": (cells_csv(ALL, {IIC: "x,,,published"}, ",,,"), "SDC406", ["but shows no figure"]),
    "safe and crossed": (cells_csv(ALL, {IIC: "x,,,s"}, ",,,s"), "SDC406", ["called safe"]),
    "empty, though it is not": (cells_csv(ALL, {IIC: "x,,,E"}, ",,,S"), "SDC406", ["called empty"]),
    "an interval without one": (cells_csv(ALL, {IIC: "22,,,interval"}, ",,,"), "SDC406", ["called an interval"]),
    "changed and nothing shown": (cells_csv(ALL, {IIC: ",,,changed"}, ",,,"), "SDC406", ["called changed"]),
    "a figure outside its interval": (cells_csv(ALL, {IIC: "40,18,30,"}, ",,,"), "SDC406", ["shows 40, 18 to 30"]),
    "two intervals": (cells_csv(ALL, {IIC: "18..30,17,30,"}, ",,,"), "SDC406", ["two intervals"]),
}


@pytest.mark.parametrize("what", CASES)
def test_refused(tmp_path, what):
    text, code, words = CASES[what]
    said = refused(small(), tmp_path, text)
    assert said.code == code, render([said])
    for word in words:
        assert word in words_of(said)


@pytest.mark.parametrize(
    ("statements", "code", "words"),
    [
        (PublishedStatements(deviation=4), "SDC403", "activity = II, region = C: released 23 to 31, true 22"),
        (PublishedStatements(alpha=0.1, beta=0.1), "SDC403", "true 22"),
        (PublishedStatements(base=5), "SDC406", "activity = II, region = C: 27"),
        (_PLAIN, "SDC405", "does not add up"),
    ],
)
def test_changes_beyond_what_is_published(tmp_path, statements, code, words):
    pattern, found = released(small(), tmp_path, cells_csv(HEADER, {IIC: "27"}), statements)
    assert pattern is None
    assert found[0].code == code
    assert words in words_of(found[0])


def test_a_rounded_figure_further_away_than_its_base(tmp_path):
    said = refused(small(), tmp_path, cells_csv(HEADER + ",base", {IIC: "30,5"}, ","))
    assert said.code == "SDC403"
    assert "released 25 to 35, true 22" in words_of(said)


def test_ten_cells_are_named_and_the_rest_counted(tmp_path):
    rows = {c: f",{v + 1},{v + 9}," for c, v in VALUES.items()}
    pattern, found = released(small(), tmp_path, cells_csv(ALL, rows))
    assert pattern is None
    said = words_of(found[0])
    assert found[0].code == "SDC403"
    assert "16 cells" in said and "and 6 more" in said and said.count("true") == 11
    said = words_of(refused(small(), tmp_path, cells_csv(HEADER, dict.fromkeys(list(VALUES)[:12], "absent"))))
    assert said.count("activity =") == 10 and "and 2 more" in said


def test_an_absent_cell_with_a_value_is_no_zero(tmp_path):
    text = cells_csv(HEADER, {IIC: "absent", ("III", "C"): "absent"})
    said = refused(small(), tmp_path, text, absent="zero")
    assert said.code == "SDC309"
    assert "whose value is not zero" in said.headline
    assert [m.label for m in said.marks] == ["activity = II, region = C"]


def test_no_file_at_all(tmp_path):
    pattern, found = read_release(small(), {"t": tmp_path / "nowhere.csv"})
    assert pattern is None
    assert [d.code for d in found] == ["SDC302"]


def test_an_encoding_that_does_not_fit(tmp_path):
    path = tmp_path / "released.csv"
    path.write_bytes(cells_csv(HEADER, {IIC: "gesperrt"}).replace("gesperrt", "gehört").encode("cp1252"))
    assert [d.code for d in read_release(small(), {"t": path})[1]] == ["SDC317"]
    pattern, found = read_release(
        small(), {"t": path}, PublishedStatements(hidden_words=("gehört",)), layout=Layout(encoding="cp1252")
    )
    assert found == []
    assert pattern is not None and pattern.status[cell(small(), activity="II", region="C")] == "x"


def test_a_table_that_the_problem_does_not_have(tmp_path):
    with pytest.raises(ValueError, match="does not have"):
        read_release(small(), {"other": tmp_path})


# ---- linked tables ---------------------------------------------------------------------------------------

BY_REGION = "activity,region,value\nI,A,20\nI,B,50\nI,Total,70\nII,A,x\nII,B,x\nII,Total,27\n"
BY_REGION += "Total,A,x\nTotal,B,x\nTotal,Total,97\n"
BY_SIZE = "activity,size,value\nI,small,30\nI,large,40\nI,Total,70\nII,small,7\nII,large,20\nII,Total,27\n"
BY_SIZE += "Total,small,37\nTotal,large,60\nTotal,Total,97\n"


def both(folder, by_region: str = BY_REGION, by_size: str | None = BY_SIZE, **more):
    files = {}
    for name, text in (("by_region", by_region), ("by_size", by_size)):
        if text is not None:
            files[name] = folder / f"{name}.csv"
            files[name].write_text(text)
    return read_release(linked(), files, **more)


def test_linked_tables(tmp_path):
    pattern, found = both(tmp_path)
    assert found == []
    assert pattern is not None
    assert (pattern.status == "x").sum() == 4
    assert pattern.n == linked().n


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("II,Total,27", "II,Total,x", "activity = II, region = Total: by_region says 27, by_size hides it"),
        ("II,Total,27", "II,Total,25..30", "by_region says 27, by_size says 25 to 30"),
        ("II,Total,27", "II,Total,28", "by_region says 27, by_size says 28"),
    ],
)
def test_a_shared_cell_published_differently(tmp_path, old, new, words):
    pattern, [said] = both(tmp_path, by_size=BY_SIZE.replace(old, new))
    assert pattern is None
    assert said.code == "SDC406"
    assert words in words_of(said)


def test_a_table_without_a_file(tmp_path):
    pattern, [said] = both(tmp_path, by_size=None)
    assert pattern is None
    assert said.code == "SDC309"
    assert "`by_size`" in said.headline
    pattern, found = both(tmp_path, by_size=None, absent="hidden")
    assert found == []
    assert pattern is not None and (pattern.status == "x").sum() == 4 + 6


def test_what_a_written_release_looks_like(tmp_path):
    problem = small()
    pattern = pattern_of(
        problem, tmp_path, cells_csv(ALL, {IIC: "x,,,", ("I", "A"): "..25,,,", ("I", "B"): "52,48,55,"}, ",,,")
    )
    write_release_csv(problem, pattern, "t", tmp_path / "out.csv")
    rows = (tmp_path / "out.csv").read_text().splitlines()
    assert rows[0] == "activity,region,value,low,high,status"
    for row in ("II,C,,,,hidden", "I,A,,-inf,25,interval", "I,B,52,48,55,changed", "I,C,10,,,published"):
        assert row in rows
