"""Problems to publish in tests: a typed-in table, two linked ones, a numbered one, and random ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import xarray as xr
from hypothesis import strategies as st

from sdcdsl.bind.lattice import lattice
from sdcdsl.bind.problem import TableProblem
from sdcdsl.bind.relations import joined, relations, repeated, select, with_sums
from sdcdsl.bind.table import BoundTable
from sdcdsl.bind.tabulation import roll_sum
from sdcdsl.diagnostics import Diagnostic, FilePlace, has_errors
from sdcdsl.diagnostics.render import render
from sdcdsl.pattern import Pattern
from sdcdsl.released import PublishedStatements, read_release
from sdcdsl.released.printing import as_printed
from sdcdsl.released.rows import cells_by_table
from tests.bind.policies import problem_of
from tests.bind.small_worlds import dimensions_

POLICY = """sdc 1
policy "A table to publish"
dimension activity { codes I, II, III; total Total }
dimension region { codes A, B, C; total Total }
table t {
  by activity, region
  values
    | activity \\ region | A | B | C |
    | I | 20 | 50 | 10 |
    | II | 8 | 19 | 22 |
    | III | 17 | 32 | 0 |
  measure turnover
}
sensitive t at (activity: II, region: C)
attacker external { bounds 0 .. inf }
protect t {
  lpl 5
  upl 5
  against external
  method csp
}
"""

LINKED = """sdc 1
policy "Two tables that share activities"
dimension activity { codes I, II; total Total }
dimension region { codes A, B; total Total }
dimension size { codes small, large; total Total }
table by_region {
  by activity, region
  values
    | activity \\ region | A | B |
    | I | 20 | 50 |
    | II | 8 | 19 |
  measure turnover
}
table by_size {
  by activity, size
  values
    | activity \\ size | small | large |
    | I | 30 | 40 |
    | II | 7 | 20 |
  measure turnover
}
sensitive by_region at (activity: II, region: A)
attacker external { bounds 0 .. inf }
protect by_region, by_size as both {
  lpl 2
  upl 2
  against external
  method csp
}
"""

NOTHING = PublishedStatements()

JJ = """0
4
0 60 6 s 0 100 0 0 0
1 10 1 u 2 30 3 4 9
2 20 2 u 5 50 6 7 8
3 30 3 z 30 30 0 0 0
1
0 4 : 0 (-1) 1 (1) 2 (1) 3 (1)
"""

VALUES = {
    ("I", "A"): 20,
    ("I", "B"): 50,
    ("I", "C"): 10,
    ("II", "A"): 8,
    ("II", "B"): 19,
    ("II", "C"): 22,
    ("III", "A"): 17,
    ("III", "B"): 32,
    ("III", "C"): 0,
    ("I", "Total"): 80,
    ("II", "Total"): 49,
    ("III", "Total"): 49,
    ("Total", "A"): 45,
    ("Total", "B"): 101,
    ("Total", "C"): 32,
    ("Total", "Total"): 178,
}


def small() -> TableProblem:
    return problem_of(POLICY)


def linked() -> TableProblem:
    return problem_of(LINKED)


def numbered(folder: Path) -> TableProblem:
    (folder / "t.jj").write_text(JJ)
    return problem_of('sdc 1\ntable t {\n  jj "t.jj"\n}\nprotect t {\n  method csp\n}\n', folder)


def cells_csv(header: str, changes: Mapping[tuple[str, ...], str] | None = None, tail: str = "") -> str:
    """The small table as CSV; of some cells another text behind the codes."""
    said = {codes: f"{value}{tail}" for codes, value in VALUES.items()} | dict(changes or {})
    return "\n".join([header, *(f"{a},{r},{text}" for (a, r), text in said.items() if text != "absent")]) + "\n"


def released(
    problem: TableProblem, folder: Path, text: str, statements: PublishedStatements = NOTHING, **more
) -> tuple[Pattern | None, list[Diagnostic]]:
    """One text as the release of a problem with one table."""
    path = folder / "released.csv"
    path.write_text(text, encoding="utf-8", newline="")
    return read_release(problem, {problem.tables[0].name: path}, statements, **more)


def pattern_of(
    problem: TableProblem, folder: Path, text: str, statements: PublishedStatements = NOTHING, **more
) -> Pattern:
    pattern, found = released(problem, folder, text, statements, **more)
    assert not has_errors(found), render(found)
    assert pattern is not None
    return pattern


def refused(
    problem: TableProblem, folder: Path, text: str, statements: PublishedStatements = NOTHING, **more
) -> Diagnostic:
    """The only complaint about a release."""
    pattern, found = released(problem, folder, text, statements, **more)
    assert pattern is None
    [said] = found
    return said


def words_of(said: Diagnostic) -> str:
    return "\n".join([said.headline, *(f"{m.place} {m.label}" for m in said.marks), *said.notes])


def same(one: Pattern, other: Pattern) -> bool:
    """But for the last digits of sums: an end printed as 0.3 is the true value where that is 0.29999999999999993."""
    alike = (
        np.allclose(getattr(one, name), getattr(other, name), rtol=1e-13, atol=1e-15, equal_nan=True)
        for name in ("low", "high", "value")
    )
    return one.claims == other.claims and np.array_equal(one.status, other.status) and all(alike)


def printed(problem: TableProblem, pattern: Pattern) -> Pattern:
    """What a file of the pattern says: its figures, which for published cells stand for the true values."""
    made = as_printed(problem, pattern)
    exact = (made.status == ".") & made.claims
    a = problem.dataset["a"].values
    return replace(made, low=np.where(exact, a, made.low), high=np.where(exact, a, made.high))


@st.composite
def problems(draw, decimals: bool = True) -> TableProblem:
    """One or two tables over some of three dimensions, with values of every kind, some cells sensitive, a union."""
    pool = [draw(dimensions_("abc"[i], 3)) for i in range(3)]
    full, found = lattice(pool)
    assert full is not None and not found
    scale = draw(st.sampled_from([1.0, 0.5, 0.01])) if decimals else 1.0
    leaves = np.zeros(full.size)
    leaf = np.flatnonzero(full.is_leaf)
    leaves[leaf] = [scale * draw(st.integers(-3, 30)) for _ in leaf]
    everything = roll_sum(full, leaves)
    tables = []
    for i in range(draw(st.integers(1, 2))):
        dims = draw(st.lists(st.sampled_from(pool), min_size=1, max_size=2, unique=True))
        made, found = lattice(dims)
        assert made is not None and not found
        a = np.array([everything[full.cell(made.codes(c))] for c in range(made.size)])
        tables.append(BoundTable(f"t{i}", "measure x", FilePlace("t"), relations(made), a, made))
    return _problem(tables, draw)


def _problem(tables: list[BoundTable], draw) -> TableProblem:
    bare = TableProblem("p", xr.Dataset(), str, tuple(tables), tables[0].relations, ())
    maps = cells_by_table(bare)
    n = 1 + max(int(m.max()) for m in maps.values())
    made = joined([t.relations for t in tables], [maps[t.name] for t in tables], n)
    made = select(made, ~repeated(made))
    a = np.zeros(n)
    for table in tables:
        a[maps[table.name]] = table.value
    made = with_sums(made, np.zeros(min(n, 2), dtype=int), np.arange(min(n, 2)), np.ones(min(n, 2)), 1)
    a = np.append(a, a[:2].sum())
    status = np.array([draw(st.sampled_from("sssu")) for _ in range(n)] + ["u"])
    data = {
        "a": ("cell", a),
        "status": ("cell", status),
        "published": ("cell", np.arange(n + 1) < n),
        "b": ("equation", made.rhs),
    }
    return TableProblem("p", xr.Dataset(data), lambda c: f"cell {c}", tuple(tables), made, ())
