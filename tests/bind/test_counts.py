"""`knows counts`: what the numbers of contributors tell, against a literal reading of the records."""

from __future__ import annotations

import tempfile
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

from sdcdsl.bind.problem import TableProblem
from sdcdsl.diagnostics import Source, Span
from sdcdsl.policy.read import read_text
from tests.bind.policies import bind_text, cell, problem_of
from tests.bind.test_microdata_policies import all_parts, both_tables, literal, worlds, write

FLAT = """sdc 1
policy "counts"
data d {
  csv "d.csv"
  column unit = "unit"WEIGHT
}
dimension r { codes R0, R1; total RT }
dimension c { codes C0, C1; total CT }
table t { from d; by r, c; MEASURE }
FACT
attacker e { WHO; bounds -inf .. inf; KNOWS }
protect t { LEVEL; against e; method csp }
"""
# Two contribute to R0·C0, nobody to R0·C1, one (E) to R1·C0, two, one of whom reports zero, to R1·C1.
RECORDS = "unit,r,c,v,w\nA,R0,C0,12,1\nB,R0,C0,8,2\nE,R1,C0,30,1\nF,R1,C1,40,1\nG,R1,C1,0,3\n"


def policy(
    knows: str = "knows counts",
    measure: str = "sum v",
    fact: str = "sensitive t at (r: R0, c: C0)",
    who: str = "",
    level: str = "lpl 4",
    weight: str = "",
) -> str:
    text = FLAT.replace("KNOWS", knows).replace("MEASURE", measure).replace("FACT", fact).replace("LEVEL", level)
    return text.replace("WHO; ", f"{who}; " if who else "").replace("WEIGHT", weight)


def seen(problem: TableProblem, r: str, c: str) -> tuple[float, float]:
    at, data = cell(problem, r=r, c=c), problem.dataset
    return float(data["low"].values[0, at]), float(data["high"].values[0, at])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "d.csv").write_text(RECORDS, encoding="utf-8")
    return tmp_path


def test_a_cell_without_contributors_is_zero_and_one_of_zeros_is_not_known(folder: Path):
    ignorant, knowing = problem_of(policy(""), folder), problem_of(policy(), folder)
    assert seen(ignorant, "R0", "C1") == (-np.inf, np.inf)
    assert seen(knowing, "R0", "C1") == (0, 0)
    for r, c in (("R0", "C0"), ("R1", "C0"), ("R1", "C1"), ("RT", "CT")):
        assert seen(knowing, r, c) == (-np.inf, np.inf)
    fact = policy(fact='sensitive t at (r: R0, c: C0)\nwaive unit A because "agreed"')
    assert seen(problem_of(fact, folder), "R0", "C1") == (0, 0)  # who waived still contributes


def test_zero_contributions_are_contributions(folder: Path):
    (folder / "d.csv").write_text(RECORDS.replace("F,R1,C1,40,1\n", ""), encoding="utf-8")
    assert seen(problem_of(policy(), folder), "R1", "C1") == (-np.inf, np.inf)
    assert seen(problem_of(policy("knows zeros"), folder), "R1", "C1") == (0, 0)


LARGE = {"area": "s1", "size": "large", "form": "y", "unit": 5, "x": 50, "w": 1}  # so that values are no counts


@given(worlds)
@settings(max_examples=25, deadline=None)
def test_empty_cells_and_only_they_are_known_of_linked_magnitudes(records):
    records = [*records, LARGE]
    text = both_tables("sensitive by threshold(3)\nattacker e { bounds 0 .. inf; knows counts }\n")
    text += "protect by_size, by_form { upl 1; against e; method csp { unions off } }\n"
    with tempfile.TemporaryDirectory() as place:
        problem = problem_of(text, write(records, place))
    parts = all_parts(problem, literal(records))
    high = problem.dataset["high"].values[0]
    assert (problem.dataset["low"].values[0] == 0).all()
    assert {c for c in parts if high[c] == 0} == {c for c, here in parts.items() if not here}
    assert all(np.isinf(high[c]) for c, here in parts.items() if here)


@given(worlds)
@settings(max_examples=25, deadline=None)
def test_the_only_contributor_who_knows_that_it_is_knows_the_cell(records):
    records = [*records, LARGE]
    text = both_tables("sensitive by threshold(3)\nattacker r {\n  each unit\n  knows own contribution\n")
    text += "  knows counts\n  bounds 0 .. inf\n}\n"
    text += "protect by_size, by_form { lpl min(value, 3); upl 4; against r; method csp { unions off } }\n"
    with tempfile.TemporaryDirectory() as place:
        problem = problem_of(text, write(records, place))
    parts, d = all_parts(problem, literal(records, together=False)), problem.dataset
    known: dict[str, dict[int, tuple[float, float]]] = defaultdict(dict)
    columns = ("known_attacker", "known_cell", "known_low", "known_high")
    for k, c, low, high in zip(*(d[name].values for name in columns), strict=True):
        known[problem.attackers[int(k)].removeprefix("r ")][int(c)] = (float(low), float(high))
    empty = {c for c, here in parts.items() if not here}
    for who, cells in known.items():
        mine = {c: here for c, here in parts.items() if who in here}
        assert cells == {c: (here[who], here[who] if list(here) == [who] else np.inf) for c, here in mine.items()}
    assert set(np.flatnonzero(d["high"].values[0] == 0)) >= empty


def test_a_negative_value_is_known_to_its_only_contributor(folder: Path):
    (folder / "d.csv").write_text(RECORDS.replace("E,R1,C0,30,1", "E,R1,C0,-30,1"), encoding="utf-8")
    who = "each unit; knows own contribution"
    for knows, expected in (("knows zeros", set()), ("knows counts", {("e E", -30.0, -30.0)})):
        problem = problem_of(policy(knows, who=who), folder)
        d = problem.dataset
        about = d["known_cell"].values == cell(problem, r="R1", c="C0")
        names = [problem.attackers[k] for k in d["known_attacker"].values[about]]
        assert set(zip(names, d["known_low"].values[about], d["known_high"].values[about], strict=True)) == expected


def test_in_a_table_of_counts_the_values_are_known_and_the_sensitive_one_is_named(folder: Path):
    problems, found = bind_text(policy(measure="count", fact="sensitive by threshold(3)", level="upl 1"), folder)
    assert not problems
    assert {f.code for f in found} == {"SDC337"}
    (one,) = found
    assert "attacker `e` knows" in one.headline
    for label in ("r = R0, c = C0", "r = R1, c = C0", "r = R1, c = C1"):
        assert label in one.notes[0]
    assert "counts contributors" in one.notes[1]
    assert [m.place.text for m in one.marks if isinstance(m.place, Span)] == ["knows counts", "upl 1"]


def test_an_empty_sensitive_cell_is_refused_with_the_reason(folder: Path):
    _, found = bind_text(policy(fact="sensitive t at (r: R0, c: C1)", level="upl 3"), folder)
    (one,) = found
    assert one.code == "SDC337"
    assert one.notes[0] == "r = R0, c = C1"
    assert one.notes[1].startswith("nobody contributes to it, so it is zero")
    _, found = bind_text(policy("knows zeros", fact="sensitive t at (r: R0, c: C1)", level="spl 3"), folder)
    assert [f.code for f in found] == ["SDC337"]


CELLS = policy().replace('  column unit = "unit"\n', "").replace("sum v", "value v; count n")
READY = "r,c,v,n\nR0,C0,20,2\nR0,C1,0,0\nR1,C0,30,1\nR1,C1,0,2\n"


def test_ready_made_cells_with_a_count_column(tmp_path: Path):
    (tmp_path / "d.csv").write_text(READY, encoding="utf-8")
    problem = problem_of(CELLS, tmp_path)
    assert seen(problem, "R0", "C1") == (0, 0)
    assert seen(problem, "R1", "C1") == (-np.inf, np.inf)
    (tmp_path / "d.csv").write_text(READY.replace("R0,C1,0,0", "R0,C1,5,0"), encoding="utf-8")
    _, found = bind_text(CELLS, tmp_path)
    assert [f.code for f in found] == ["SDC323"]


@pytest.mark.parametrize("value", ["v", "n"])
def test_ready_made_counts_are_known_whatever_their_column_is_called(tmp_path: Path, value: str):
    (tmp_path / "d.csv").write_text("r,c,v,n\nR0,C0,2,2\nR0,C1,0,0\nR1,C0,1,1\nR1,C1,2,2\n", encoding="utf-8")
    _, found = bind_text(CELLS.replace("value v", f"value {value}"), tmp_path)
    assert [f.code for f in found] == ["SDC337"]


def codes_of(text: str) -> list[str]:
    _, found = read_text(Source("test.sdc", text), Path("test.sdc"))
    return [f.code for f in found]


def test_tables_that_do_not_say_how_many_contribute_are_refused():
    assert codes_of(policy()) == []
    assert codes_of(CELLS) == []
    assert codes_of(CELLS.replace("; count n", "")) == ["SDC132"]
    inline = "table t {\n  by r, c\n  values\n    | r \\ c | C0 | C1 |\n    | R0 | 1 | 2 |\n    | R1 | 3 | 4 |\n}\n"
    text = policy().split("table t")[0] + inline + policy().split("sum v }\n")[1]
    assert codes_of(text) == ["SDC132"]
    assert codes_of(text.replace("; knows counts", "")) == []
    jj = 'sdc 1\ntable t { jj "t.jj" }\nattacker e { bounds given; knows counts }\n'
    assert codes_of(jj + "protect t { upl needed; against e; method csp }\n") == ["SDC132"]


def test_weighted_counts_are_refused_and_weighted_sums_are_not(folder: Path):
    weight = '\n  column weight = "w"'
    assert codes_of(policy(measure="count", weight=weight)) == ["SDC146"]
    assert codes_of(policy(measure="count")) == []
    problem = problem_of(policy(weight=weight), folder)
    assert seen(problem, "R0", "C1") == (0, 0)
    assert problem.dataset["a"].values[cell(problem, r="R0", c="C0")] == 12 + 2 * 8


def test_nobody_else_is_made_wiser(folder: Path):
    """Only the attacker who says `knows counts` knows them."""
    text = policy().replace("protect t {", "attacker other { bounds -inf .. inf }\nprotect t {")
    problem = problem_of(text.replace("against e", "against e, other"), folder)
    at, d = cell(problem, r="R0", c="C1"), problem.dataset
    assert d["high"].values[:, at].tolist() == [0, np.inf]
