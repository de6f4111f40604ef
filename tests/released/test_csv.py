"""CSV releases: what may stand in a field, what is made of it, and how figures that were changed are understood."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import polars as pl
import pytest

from sdcdsl.pattern import adjusted, ecta, hidden, perturbed, rounded
from sdcdsl.released import Layout, PublishedStatements
from sdcdsl.released.figures import BLANK, NIL, NUMBER, RANGE, STRANGE, WORD, read_figures
from sdcdsl.released.status_words import HIDDEN_WORDS
from tests.bind.policies import cell, problem_of
from tests.conftest import ROOT
from tests.released.problems import POLICY, VALUES, cells_csv, pattern_of, same, small

HEADER = "activity,region,value"
IIC, IIA, IC, IA = ("II", "C"), ("II", "A"), ("I", "C"), ("I", "A")


def at(problem, *addresses) -> list[int]:
    return [cell(problem, activity=a, region=r) for a, r in addresses]


def suppressed(problem, *addresses):
    mask = ~problem.dataset["published"].values
    mask[at(problem, *addresses)] = True
    return hidden(problem.dataset["a"].values, mask)


# ---- figures ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "kind", "low", "high"),
    [
        ("5", NUMBER, 5, 0.5),
        ("5.00", NUMBER, 5, 0.005),
        ("1 204 877", NUMBER, 1204877, 0.5),
        ("1\u202f204.5", NUMBER, 1204.5, 0.05),
        ("−4", NUMBER, -4, 0.5),
        ("1e+05", NUMBER, 1e5, 0.5),
        ("1.5e-3", NUMBER, 0.0015, 0.00005),
        ("5..30", RANGE, 5, 30),
        ("5 .. 30", RANGE, 5, 30),
        ("5-30", RANGE, 5, 30),
        ("-5-30", RANGE, -5, 30),
        ("-5--3", RANGE, -5, -3),
        ("-5 - -3", RANGE, -5, -3),
        ("5 – 30", RANGE, 5, 30),
        ("5 to 30", RANGE, 5, 30),
        ("[5, 30]", RANGE, 5, 30),
        ("[-5.5,30]", RANGE, -5.5, 30),
        ("[5; 30]", RANGE, 5, 30),
        ("5..", RANGE, 5, np.inf),
        ("..30", RANGE, -np.inf, 30),
        ("", BLANK, np.nan, np.nan),
        ("-", NIL, np.nan, np.nan),
        ("–", NIL, np.nan, np.nan),
        ("X", WORD, np.nan, np.nan),
        ("..", WORD, np.nan, np.nan),
        ("n/a", WORD, np.nan, np.nan),
        ("twelve", STRANGE, np.nan, np.nan),
        ("5-", STRANGE, np.nan, np.nan),
        ("1-2-3", STRANGE, np.nan, np.nan),
        ("5,5", STRANGE, np.nan, np.nan),
    ],
)
def test_a_figure(text, kind, low, high):
    """Of a number `low` is the number and `high` half a unit of its last digit."""
    f = read_figures(pl.Series([text, None]), ".", frozenset())
    assert f.kind.tolist() == [kind, BLANK]
    one, two = (f.number, f.half) if kind == NUMBER else (f.low, f.high)
    assert one[0] == pytest.approx(low, nan_ok=True)
    assert kind not in (NUMBER, RANGE) or two[0] == pytest.approx(high)


@pytest.mark.parametrize("text", ["2,5", "1 204,5", "[2,5; 3,5]", "[2,5, 3,5]", "2,5-3,5"])
def test_decimal_commas(text):
    f = read_figures(pl.Series([text]), ",", frozenset())
    assert f.kind[0] in (NUMBER, RANGE)
    assert (f.number[0] if f.kind[0] == NUMBER else f.low[0]) in (2.5, 1204.5)


def test_a_comma_in_brackets_is_no_interval_where_it_is_the_decimal_mark():
    assert read_figures(pl.Series(["[2,5]"]), ",", frozenset()).kind[0] == STRANGE


# ---- suppression -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("word", ["", *sorted(HIDDEN_WORDS), "X", "NA", " x "])
def test_every_word_for_a_hidden_cell(tmp_path, word):
    problem = small()
    text = cells_csv(HEADER, {IIC: word, IIA: word, IC: word, IA: word})
    assert same(pattern_of(problem, tmp_path, text), suppressed(problem, IIC, IIA, IC, IA))


def test_the_words_are_documented():
    page = (ROOT / "docs" / "auditing.md").read_text(encoding="utf-8")
    [listed] = re.findall(r"the words (.*?)\. You can", page, re.DOTALL)
    assert set(re.findall(r"`([^`]+)`", listed)) == HIDDEN_WORDS


def test_words_of_ones_own(tmp_path):
    problem = small()
    text = cells_csv(HEADER, {IIC: "Geheim", IIA: "-"})
    pattern = pattern_of(problem, tmp_path, text, PublishedStatements(hidden_words=("geheim",)))
    assert same(pattern, suppressed(problem, IIC, IIA))


def test_a_dash_is_zero_if_it_can_be(tmp_path):
    problem = small()
    nothing = pattern_of(problem, tmp_path, cells_csv(HEADER, {("III", "C"): "-"}))
    assert same(nothing, suppressed(problem))
    somewhere_else = pattern_of(problem, tmp_path, cells_csv(HEADER, {("III", "C"): "-", IIC: "-"}))
    assert same(somewhere_else, suppressed(problem, ("III", "C"), IIC))
    said = pattern_of(
        problem, tmp_path, cells_csv(HEADER, {("III", "C"): "-"}), PublishedStatements(hidden_words=("-",))
    )
    assert same(said, suppressed(problem, ("III", "C")))


@pytest.mark.parametrize("delimiter", [";", "\t", "|", ","])
def test_delimiters_line_ends_marks_and_order(tmp_path, delimiter):
    problem = small()
    head, *rows = cells_csv("Region,ACTIVITY,Value", {}).splitlines()
    turned = [",".join([r, a, v]) for a, r, v in (row.split(",") for row in rows)]
    text = "\ufeff" + "\r\n".join([head, *reversed(turned)]).replace(",", delimiter) + "\r\n"
    assert same(pattern_of(problem, tmp_path, text), suppressed(problem))


def test_old_macintosh_line_ends(tmp_path):
    problem = small()
    assert same(pattern_of(problem, tmp_path, cells_csv(HEADER).replace("\n", "\r")), suppressed(problem))


@pytest.mark.parametrize("name", ["value", "VALUE", "turnover", "t", "val", "something else"])
def test_the_value_column(tmp_path, name):
    problem = small()
    text = cells_csv(f"activity,region,{name},freq,cost", {}, ",4,1")
    assert same(pattern_of(problem, tmp_path, text), suppressed(problem))


def test_columns_that_are_called_otherwise(tmp_path):
    problem = small()
    text = cells_csv("NACE,NUTS,2024,2025", {c: f"1,{v}" for c, v in VALUES.items()})
    layout = Layout(columns={"activity": "NACE", "region": "NUTS", "value": "2025"})
    assert same(pattern_of(problem, tmp_path, text, layout=layout), suppressed(problem))


def test_a_table_of_counts(tmp_path):
    problem = small()
    assert same(pattern_of(problem, tmp_path, cells_csv("activity,region,freq")), suppressed(problem))


# ---- intervals and statuses ------------------------------------------------------------------------------


@pytest.mark.parametrize("row", ["18..30", "18-30,,", '"[18, 30]",,', ",18,30", "x,18,30", "..,18,30", "18 to 30"])
def test_an_interval_in_one_column_or_two(tmp_path, row):
    problem = small()
    text = cells_csv("activity,region,value,lower,Upper", {IIC: row + "," * (2 - row.split('"')[-1].count(","))}, ",,")
    pattern = pattern_of(problem, tmp_path, text)
    [c] = at(problem, IIC)
    assert (pattern.low[c], pattern.high[c], pattern.status[c]) == (18, 30, "i")
    assert np.isnan(pattern.value[c])
    assert (pattern.status == "i").sum() == 1


def test_intervals_open_on_one_side(tmp_path):
    problem = small()
    text = cells_csv("activity,region,value,low,high", {IIC: ",18,", IIA: ",,12", IC: "..,,"}, ",,")
    pattern = pattern_of(problem, tmp_path, text)
    one, two, three = at(problem, IIC, IIA, IC)
    assert (pattern.low[one], pattern.high[one]) == (18, np.inf)
    assert (pattern.low[two], pattern.high[two]) == (-np.inf, 12)
    assert pattern.status[[one, two, three]].tolist() == ["i", "i", "x"]


def test_only_ends_and_no_value_column(tmp_path):
    problem = small()
    rows = {c: f"{v},{v}" for c, v in VALUES.items()} | {IIC: "18,30"}
    pattern = pattern_of(problem, tmp_path, cells_csv("activity,region,low,high", rows))
    assert (pattern.status == ".").sum() == 15
    assert pattern.value[cell(problem)] == 178


def test_statuses_in_words_that_agree(tmp_path):
    problem = small()
    changes = {IIC: "x,,,hidden", IIA: ",5,9,Interval", IC: "11,8,12,changed", IA: "20,,,"}
    pattern = pattern_of(problem, tmp_path, cells_csv("activity,region,value,low,high,status", changes, ",,,published"))
    assert pattern.status[at(problem, IIC, IIA, IC, IA)].tolist() == ["x", "i", "v", "."]
    assert pattern.claims


# ---- figures with digits left out ------------------------------------------------------------------------

DECIMALS = POLICY.replace("20 | 50 | 10", "20.26 | 50.31 | 10.42")


def test_figures_rounded_for_display_are_taken_for_the_truth(tmp_path):
    problem = problem_of(DECIMALS)
    a = problem.dataset["a"].values
    table = problem.tables[0]
    assert table.lattice is not None
    rows = {tuple(table.lattice.codes(c).values()): f"{a[c]:.1f}" for c in range(table.size)}
    pattern = pattern_of(problem, tmp_path, cells_csv(HEADER, rows))
    assert pattern.claims
    assert set(pattern.status) == {"."}
    assert np.array_equal(pattern.low, a) and np.array_equal(pattern.high, a)
    assert pattern.value[cell(problem, activity="I", region="A")] == 20.3
    assert pattern.about == ("8 figures rounded for display",)


def test_a_rounded_end_that_misses_the_truth_is_moved_to_it(tmp_path):
    problem = problem_of(DECIMALS)
    a, table = problem.dataset["a"].values, problem.tables[0]
    assert table.lattice is not None
    rows = {tuple(table.lattice.codes(c).values()): f"{a[c]:.2f}" for c in range(table.size)} | {IA: "20.3..21"}
    pattern = pattern_of(problem, tmp_path, cells_csv(HEADER, rows))
    c = cell(problem, activity="I", region="A")
    assert (pattern.low[c], pattern.high[c]) == (20.26, 21)


def test_whole_numbers_are_not_rounded_for_display(tmp_path):
    """A table of whole numbers prints all its digits: one unit off is another value."""
    problem = small()
    moved = {IA: "21", IC: "9", ("Total", "A"): "46", ("Total", "C"): "31"}
    pattern = pattern_of(problem, tmp_path, cells_csv(HEADER, moved))
    assert not pattern.claims
    assert (pattern.status == "v").sum() == 4


# ---- changed figures -------------------------------------------------------------------------------------

MOVED = {IIC: "27", IIA: "3", ("I", "C"): "5", ("I", "A"): "25"}


def moved(problem):
    v = problem.dataset["a"].values.copy()
    for address, text in MOVED.items():
        v[at(problem, address)] = float(text)
    return v


def test_an_adjusted_table_claims_nothing(tmp_path):
    problem = small()
    v = moved(problem)
    expected = adjusted(v, v != problem.dataset["a"].values)
    assert same(pattern_of(problem, tmp_path, cells_csv(HEADER, MOVED)), expected)


def test_a_published_deviation(tmp_path):
    problem = small()
    pattern = pattern_of(problem, tmp_path, cells_csv(HEADER, MOVED), PublishedStatements(deviation=5))
    assert same(pattern, perturbed(moved(problem), np.full(problem.n, 5.0)))
    assert pattern.about == ("deviation at most 5",)


def test_published_shares(tmp_path):
    problem = small()
    pattern = pattern_of(problem, tmp_path, cells_csv(HEADER, MOVED), PublishedStatements(alpha=0.3, beta=1))
    sensitive = problem.dataset["status"].values == "u"
    assert same(pattern, ecta(moved(problem), sensitive, 0.3, 1))
    assert pattern.about == ("α 0.3", "β 1")


def test_a_deviation_for_every_cell(tmp_path):
    problem = small()
    rows = {c: f"{v},0" for c, v in VALUES.items()} | {c: f"{v},6" for c, v in MOVED.items()}
    pattern = pattern_of(problem, tmp_path, cells_csv("activity,region,value,deviation", rows))
    v = moved(problem)
    assert same(pattern, perturbed(v, np.where(v != problem.dataset["a"].values, 6.0, 0.0)))


def test_a_base_for_some_cells(tmp_path):
    problem = small()
    pattern = pattern_of(problem, tmp_path, cells_csv("activity,region,value,base", {IIC: "25,5", IIA: "10,5"}, ","))
    v, r = problem.dataset["a"].values.copy(), np.zeros(problem.n)
    v[at(problem, IIC, IIA)], r[at(problem, IIC, IIA)] = [25, 10], 5
    assert same(pattern, rounded(v, r))
    assert pattern.about == ("base 5",)


def test_rounding_one_by_one_need_not_add_up(tmp_path):
    problem = small()
    rows = {c: str(10 * round(v / 10)) for c, v in VALUES.items()}
    pattern = pattern_of(problem, tmp_path, cells_csv(HEADER, rows), PublishedStatements(base=10))
    v = np.array([10 * round(x / 10) for x in problem.dataset["a"].values], dtype=float)
    assert same(pattern, rounded(v, np.full(problem.n, 10.0)))


def test_a_figure_that_is_no_multiple_of_the_base_is_as_it_is(tmp_path):
    problem = small()
    pattern = pattern_of(problem, tmp_path, cells_csv(HEADER, {IIC: "20"}), PublishedStatements(base=10))
    one, two, three = at(problem, IIC, IIA, IC)
    assert (pattern.low[one], pattern.high[one], pattern.status[one]) == (10, 30, "v")
    assert (pattern.low[two], pattern.high[two], pattern.status[two]) == (8, 8, ".")
    assert (pattern.low[three], pattern.high[three]) == (0, 20)  # ten may be anything that is rounded to ten


def test_hidden_and_changed_side_by_side(tmp_path):
    problem = small()
    pattern = pattern_of(
        problem, tmp_path, cells_csv(HEADER, {**MOVED, ("III", "B"): "x"}), PublishedStatements(deviation=5)
    )
    assert pattern.status[at(problem, ("III", "B"), IIC)].tolist() == ["x", "v"]
    assert pattern.claims


def test_what_is_published_is_one_thing():
    wrongly: list[dict[str, Any]] = [{"alpha": 0.1}, {"base": 5, "deviation": 2}, {"base": 0}, {"deviation": -1}]
    for wrong in wrongly:
        with pytest.raises(ValueError, match=r"published|base|deviation"):
            PublishedStatements(**wrong)


# ---- absent cells and unions -----------------------------------------------------------------------------


def test_cells_that_are_left_out(tmp_path):
    problem = small()
    text = cells_csv(HEADER, {IIC: "absent", ("III", "C"): "absent"})
    assert same(pattern_of(problem, tmp_path, text, absent="hidden"), suppressed(problem, IIC, ("III", "C")))
    text = cells_csv(HEADER, {("III", "C"): "absent"})
    assert same(pattern_of(problem, tmp_path, text, absent="zero"), suppressed(problem))


def test_unions_are_open(tmp_path):
    text = POLICY.replace(
        "attacker", "sensitive together at (activity: II, region: A), (activity: II, region: B)\nattacker", 1
    )
    problem = problem_of(text)
    assert (~problem.dataset["published"].values).sum() == 1
    pattern = pattern_of(problem, tmp_path, cells_csv(HEADER))
    assert (pattern.low[-1], pattern.high[-1], pattern.status[-1]) == (-np.inf, np.inf, "x")
