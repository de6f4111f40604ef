"""Checks that need more than one wrong word to show."""

from __future__ import annotations

import pytest

from sdcdsl.diagnostics import Fix, Span
from tests.policy.reading import TINY, change, codes, read

CELLS = """sdc 1
data d {
  csv "d.csv"
}
dimension a {
  codes A, B
  total T
}
table t {
  from d
  by a
  value v
  count n
  largest(1) m
  largest(2) s
}
"""


@pytest.mark.parametrize(
    ("amount", "fixed"),
    [
        ("lpl 10%", "lpl 10% of value"),
        ("lpl 10% * value", "lpl 10% of value"),
        ("lpl value * 10%", "lpl 10% of value"),
        ("lpl 10 where value > 10%", "lpl 10 where value > 10% of value"),
        ("lpl 10 where largest(1) / value > 80%", "lpl 10 where largest(1) / value > 0.8"),
    ],
)
def test_the_fix_of_a_bare_percentage_means_what_was_meant(amount: str, fixed: str):
    text = change("lpl 10", amount)
    (found,) = read(text)[1]
    assert found.code == "SDC123"
    fix = found.fix
    assert isinstance(fix, Fix)
    repaired = text[: fix.span.start] + fix.text + text[fix.span.end :]
    assert repaired == change("lpl 10", fixed)
    assert codes(repaired) == []


def test_a_level_against_somebody_outside_the_scenario():
    scenario = "scenario s {\n  against external\n  upl 3 against informed\n}\n"
    assert codes(TINY + scenario) == ["SDC141"]
    assert codes(TINY + scenario.replace("against external", "against external, informed")) == []


@pytest.mark.parametrize("status", ["publish", "fix"])
@pytest.mark.parametrize("table", ["", " investment"])
def test_a_cell_is_sensitive_and_must_be_shown(status: str, table: str):
    together = "sensitive together at (activity: II, region: C), (activity: I, region: C)\n"
    text = change("sensitive investment at", together + "sensitive investment at")
    assert codes(text + f"{status}{table} at (activity: II, region: C)\n") == ["SDC137"]
    assert codes(text + f"{status}{table} at (activity: I, region: A)\n") == []


@pytest.mark.parametrize(
    ("rule", "enough"),
    [
        ("dominance(2, 80%)", True),
        ("dominance(3, 80%)", False),
        ("p_percent(10%)", True),
        ("p_percent(10%, 2)", False),
        ("p_percent(p: 10%, n: 1)", True),
        ("dominance(999999999, 80%)", False),
    ],
)
def test_rules_ask_for_as_many_contributions_as_the_data_gives(rule: str, enough: bool):
    assert codes(CELLS + f"sensitive t by {rule}\n") == ([] if enough else ["SDC135"])


def test_records_have_columns_whatever_they_are_called():
    text = CELLS.replace("  value v\n  count n\n  largest(1) m\n  largest(2) s\n", "  sum v\n  only where value > 0\n")
    assert codes(text) == []


@pytest.mark.parametrize("name", ["unit", "group", "by", "from"])
def test_tables_are_not_called_like_words_that_follow_a_fact(name: str):
    assert codes(CELLS.replace("table t", f"table {name}")) == ["SDC025"]


def test_paths_that_come_back_do_not_leave_the_folder():
    assert codes(CELLS.replace('"d.csv"', '"a/../d.csv"')) == []
    assert codes(CELLS.replace('"d.csv"', '"a/../../d.csv"')) == ["SDC140"]


def test_the_word_that_is_wrong_is_marked_not_a_part_of_another():
    (found,) = read(change("against external", "against inform, informed"))[1]
    place = found.marks[0].place
    assert isinstance(place, Span) and place.text == "inform"


@pytest.mark.parametrize(("said", "wrong"), [("", []), (" no", []), (" yes", ["SDC109"]), (" no, no", ["SDC109"])])
def test_what_holds_anyway_can_be_switched_off(said: str, wrong: list[str]):
    options = f"{{\n    spreadsheet_safe{said}\n  }}"
    assert codes(change("method csp", f'method csp\n  release csv "x.csv" {options}')) == wrong
