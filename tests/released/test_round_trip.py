"""What is written reads back as the same pattern, whatever was published how."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sdcdsl.diagnostics import has_errors
from sdcdsl.diagnostics.render import render
from sdcdsl.pattern import Pattern, adjusted, combined, ecta, hidden, intervals, perturbed, rounded
from sdcdsl.released import PublishedStatements, read_release, write_release_csv
from sdcdsl.released.rows import cells_by_table
from tests.released.problems import NOTHING, printed, problems, same


def through_files(problem, pattern, statements=NOTHING):
    with tempfile.TemporaryDirectory() as folder:
        files = {t.name: Path(folder) / f"{t.name}.csv" for t in problem.tables}
        for name, path in files.items():
            write_release_csv(problem, pattern, name, path)
        again, found = read_release(problem, files, statements)
    assert not has_errors(found), render(found)
    assert again is not None
    return again


def noise(data, problem, most: int) -> np.ndarray:
    """Whole numbers, the same in every table that shows a cell."""
    return np.array([float(data.draw(st.integers(0, most))) for _ in range(problem.n)])


def with_unions_open(problem, pattern: Pattern) -> Pattern:
    a, union = problem.dataset["a"].values, ~problem.dataset["published"].values
    return combined([(~union, pattern), (union, hidden(a, union))])


@settings(max_examples=60, deadline=None)
@given(problems(), st.data())
def test_patterns_with_a_box(problem, data):
    """Hidden cells, intervals, rounded, perturbed and adjusted-within-shares figures side by side."""
    a, n = problem.dataset["a"].values, problem.n
    below, above = noise(data, problem, 4), noise(data, problem, 4)
    below[data.draw(st.integers(0, n - 1))] = np.inf
    v = a + below.clip(max=4) - above.clip(max=4)
    room = np.abs(v - a) + 1
    sensitive = problem.dataset["status"].values == "u"
    shares = ecta(np.where(a == 0, 0.0, a * 1.125), sensitive, 1.5, 0.25)
    forms = [
        hidden(a, np.zeros(n, dtype=bool)),
        hidden(a, np.ones(n, dtype=bool)),
        intervals(a - below, a + above),
        rounded(v, room),
        perturbed(v, room),
        shares,
    ]
    which = np.array([data.draw(st.integers(0, len(forms) - 1)) for _ in range(n)])
    pattern = combined([(which == i, form) for i, form in enumerate(forms)])
    pattern = with_unions_open(problem, pattern)
    assert same(through_files(problem, pattern), printed(problem, pattern))


@settings(max_examples=60, deadline=None)
@given(problems(), st.data())
def test_adjusted_tables(problem, data):
    """Another additive table, about which nothing is said; some cells are hidden besides."""
    a = problem.dataset["a"].values
    factor = data.draw(st.sampled_from([2.0, 0.5, 1.0]))
    drop = noise(data, problem, 3) == 0
    drop[-1] = True  # the union
    v = factor * a
    pattern = combined([(~drop, adjusted(v, v != a)), (drop, hidden(a, drop))])
    if not (pattern.status == "v").any():  # then nothing was changed, and the figures are taken at their word
        pattern = hidden(a, drop)
    else:  # the file must not tell which cells are as they were
        told = combined([(~drop, adjusted(v, np.ones(problem.n, dtype=bool))), (drop, hidden(a, drop))])
        assert same(through_files(problem, pattern), printed(problem, told))
        return
    assert same(through_files(problem, pattern), printed(problem, pattern))


@settings(max_examples=30, deadline=None)
@given(problems(decimals=False), st.sampled_from([3.0, 5.0, 10.0]))
def test_a_published_base_gives_rounded_tables(problem, base):
    a = problem.dataset["a"].values
    v = np.where(problem.dataset["published"].values, base * np.round(a / base), np.nan)
    told = Pattern(np.full(problem.n, -np.inf), np.full(problem.n, np.inf), v, np.full(problem.n, "v"), claims=False)
    told.status[-1] = "x"
    again = through_files(problem, told, PublishedStatements(base=base))
    assert same(again, with_unions_open(problem, rounded(v, np.full(problem.n, base))))
    assert again.about == (f"base {base:g}",)


@settings(max_examples=30, deadline=None)
@given(problems())
def test_every_table_has_its_file_and_shared_cells_one_number(problem):
    maps = cells_by_table(problem)
    for table in problem.tables:
        np.testing.assert_array_equal(problem.dataset["a"].values[maps[table.name]], table.value)
