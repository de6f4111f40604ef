"""What figures look like in files: short, right, additive, and never more telling than what was audited."""

from __future__ import annotations

import csv
import tempfile
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sdcdsl.audit import audit
from sdcdsl.diagnostics import has_errors
from sdcdsl.diagnostics.render import render
from sdcdsl.pattern import adjusted, hidden, intervals, perturbed
from sdcdsl.released import read_release, write_release_csv
from sdcdsl.released.printing import as_printed
from tests.bind.policies import problem_of
from tests.released.problems import POLICY, problems, small

FRACTIONS = POLICY.replace("| 20 | 50 | 10 |", "| 20.1 | 50.2 | 10.3 |").replace(
    "| 8 | 19 | 22 |", "| 8.4 | 19.5 | 22.6 |"
)


def file_of(problem, pattern, **options) -> list[dict[str, str]]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.csv"
        write_release_csv(problem, pattern, problem.tables[0].name, path, **options)
        return list(csv.DictReader(path.read_text().splitlines()))


def read_back(problem, pattern, **options):
    with tempfile.TemporaryDirectory() as folder:
        files = {t.name: Path(folder) / f"{t.name}.csv" for t in problem.tables}
        for name, path in files.items():
            write_release_csv(problem, pattern, name, path, **options)
        again, found = read_release(problem, files)
    assert not has_errors(found), render(found)
    assert again is not None
    return again


def test_published_figures_print_as_the_source_has_them():
    """20.1 + 50.2 + 10.3 is 80.60000000000001 in floating point."""
    problem = problem_of(FRACTIONS)
    a = problem.dataset["a"].values
    assert "80.60000000000001" in map(repr, a.tolist())
    shown = {(r["activity"], r["region"]): r["value"] for r in file_of(problem, hidden(a, np.zeros(problem.n, bool)))}
    assert shown["I", "Total"] == "80.6" and shown["Total", "Total"] == "180.1"
    assert all(len(text.partition(".")[2]) <= 1 for text in shown.values())


@pytest.mark.parametrize("value", [1e-8, 0.1 + 0.2, 123456789.125, 1 / 3, 2.5e-300, 1e17 + 16, 12345678901234.5])
def test_no_published_figure_is_lost(value):
    problem = small()
    a = problem.dataset["a"].values.copy()
    a[0] = value
    problem = replace(problem, dataset=problem.dataset.assign(a=("cell", a)))
    printed = as_printed(problem, hidden(a, np.zeros(problem.n, bool))).value[0]
    assert printed == pytest.approx(value, rel=1e-14, abs=0)


@settings(max_examples=60, deadline=None)
@given(problems(), st.floats(0.1, 3), st.floats(0.01, 1e6))
def test_printed_sums_hold(problem, factor, scale):
    """With exact decimal arithmetic on the texts themselves, as a reader would add them up."""
    data = problem.dataset.assign(a=("cell", problem.dataset["a"].values * scale))
    tables = tuple(replace(t, value=t.value * scale) for t in problem.tables)
    problem = replace(problem, dataset=data, tables=tables)
    a = data["a"].values
    v = a * factor
    printed = as_printed(problem, adjusted(v, v != a))
    texts = [Decimal(repr(x)) for x in printed.value.tolist()]
    made = problem.relations
    for equation in range(problem.m):
        mine = np.flatnonzero(made.equation_of == equation)
        terms = [Decimal(made.coefficient[i]) * texts[made.cell_of[i]] for i in mine.tolist()]
        assert abs(sum(terms)) <= Decimal("1e-10") * sum(map(abs, terms))
    moved = (v != a) & (np.rint(v) != v)
    assert all(len(t.as_tuple().digits) <= 17 for t in texts)
    assert all(len(texts[i].normalize().as_tuple().digits) <= 11 + 8 for i in np.flatnonzero(moved))


@settings(max_examples=40, deadline=None)
@given(st.floats(0.001, 40), st.floats(1e-4, 3))
def test_an_adjusted_table_is_as_far_away_in_print(level, factor):
    """The sensitive cell is moved by its level, whatever digits that has; the file is audited like the table."""
    problem = small()
    d = problem.dataset
    level *= factor
    data = d.assign(lpl=("pair", np.full(d.sizes["pair"], level)), upl=("pair", np.full(d.sizes["pair"], level)))
    problem = replace(problem, dataset=data.assign(ub=("cell", np.full(problem.n, np.inf))))
    a = d["a"].values
    where = problem.tables[0].lattice
    assert where is not None
    v = a.copy()
    for codes in ({"activity": "II", "region": "C"}, {"activity": "II"}, {"region": "C"}, {}):
        v[where.cell(codes)] += level
    pattern = adjusted(v, v != a)
    assert audit(problem, pattern).verdict == "protected"
    again = read_back(problem, pattern)
    assert not again.claims
    found = audit(problem, again)
    assert found.verdict == "protected"
    assert found.distance is not None and not found.distance.wrong


@settings(max_examples=40, deadline=None)
@given(st.floats(0.01, 9), st.floats(0.01, 9), st.sampled_from([None, 0, 1, 3]))
def test_intervals_are_rounded_outwards(below, above, decimals):
    problem = problem_of(FRACTIONS)
    a = problem.dataset["a"].values
    for pattern in (intervals(a - below, a + above), perturbed(a + below / 3, np.full(problem.n, below))):
        again = read_back(problem, pattern, decimals=decimals)
        noise = 2e-12 * (20 + np.abs(a))
        assert (again.low <= pattern.low + noise).all() and (again.high >= pattern.high - noise).all()
        unit = 1e-9 * (1 + np.abs(a)) if decimals is None else 10.0**-decimals
        assert (again.low >= pattern.low - unit).all() and (again.high <= pattern.high + unit).all()


def test_decimals_of_published_figures():
    problem = problem_of(FRACTIONS)
    a = problem.dataset["a"].values
    mask = np.arange(problem.n) == problem.n - 5
    pattern = hidden(a, mask)
    rows = file_of(problem, pattern, decimals=0)
    assert all(text == "" or Decimal(text) == int(Decimal(text)) for text in (r["value"] for r in rows))
    again = read_back(problem, pattern, decimals=0)
    np.testing.assert_array_equal(again.low[~mask], a[~mask])  # audited as if all digits were there
    assert any("rounded for display" in word for word in again.about)


def test_decimals_leave_adjusted_tables_alone():
    problem = small()
    a = problem.dataset["a"].values
    pattern = adjusted(a * 1.2345678, np.ones(problem.n, bool))
    assert file_of(problem, pattern, decimals=1) == file_of(problem, pattern)


def test_ends_do_not_lose_what_is_nothing_to_a_figure_and_much_to_a_level():
    """22181498.2 as a double lies below the decimal, by more than 1e-9 of a level of 0.2 in the same table."""
    problem = problem_of(POLICY.replace("lpl 5", "lpl 0.2").replace("| 20 | 50 | 10 |", "| 22181498 | 50 | 10 |"))
    a = problem.dataset["a"].values
    largest = int(np.flatnonzero(a == 22181498)[0])
    high = a.copy()
    high[largest] = np.nextafter(22181498.2, np.inf)
    assert high[largest] - a[largest] >= 0.2
    assert as_printed(problem, intervals(a, high)).high[largest] >= high[largest]


def test_figures_that_are_many_times_the_truth_still_add_up():
    problem = small()
    a = problem.dataset["a"].values
    v = a * (1e5 / 3)
    read_back(problem, adjusted(v, v != a))
