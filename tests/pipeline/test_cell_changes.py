"""Policies beside each other, cell by cell: alignment by codes, and what changed."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sdcdsl.bind.problem import TableProblem
from sdcdsl.pipeline.alignment import align
from sdcdsl.pipeline.cell_changes import compare
from tests.bind.policies import problem_of

POLICY = """\
sdc 1
policy "small"

dimension row {{
  codes {rows}
  total R
}}

dimension column {{
  codes {columns}
  total C
}}

table t {{
  by {by}
  values
{table}
}}

sensitive t where {sensitive}

attacker external {{
  bounds {bounds}
}}

protect t {{
  lpl {lpl}
  upl 2
  against external
  method csp
}}
"""
VALUES = {("r1", "c1"): 10, ("r1", "c2"): 20, ("r2", "c1"): 30, ("r2", "c2"): 40, ("r3", "c1"): 50, ("r3", "c2"): 60}


def small(
    rows: tuple[str, ...] = ("r1", "r2", "r3"),
    columns: tuple[str, ...] = ("c1", "c2"),
    transposed: bool = False,
    sensitive: str = "value = 20",
    lpl: str = "3",
    bounds: str = "0 .. inf",
) -> TableProblem:
    sides = (columns, rows) if transposed else (rows, columns)
    names = ("column", "row") if transposed else ("row", "column")
    lines = [f"    | {names[0]} \\ {names[1]} | {' | '.join(sides[1])} |"]
    for first in sides[0]:
        figures = (VALUES[(second, first) if transposed else (first, second)] for second in sides[1])
        lines.append(f"    | {first} | {' | '.join(map(str, figures))} |")
    return problem_of(
        POLICY.format(
            rows=", ".join(rows),
            columns=", ".join(columns),
            by=", ".join(names),
            table="\n".join(lines),
            sensitive=sensitive,
            lpl=lpl,
            bounds=bounds,
        )
    )


def codes(problem: TableProblem, cell: int) -> dict[str, str]:
    lattice = problem.tables[0].lattice
    assert lattice is not None
    return lattice.codes(cell)


@settings(max_examples=30, deadline=None)
@given(st.permutations(("r1", "r2", "r3")), st.integers(1, 3), st.booleans(), st.booleans())
def test_cells_are_known_by_their_codes(order: list[str], some: int, flip: bool, transposed: bool):
    """Whatever the order of codes and dimensions, and whichever rows are left."""
    old = small()
    new = small(
        tuple(order[:some]), ("c2", "c1") if flip else ("c1", "c2"), transposed, sensitive="value = 20 or R = row"
    )
    made = align(old, new)
    assert [codes(old, int(c)) for c in made.old] == [codes(new, int(c)) for c in made.new]
    shared = {"R", *order[:some]}
    assert len(made.old) == 3 * len(shared)
    assert {codes(old, int(c))["row"] for c in made.only_old} == {"r1", "r2", "r3"} - shared
    assert len(made.old) + len(made.only_old) == old.n and len(made.new) + len(made.only_new) == new.n


def test_a_policy_against_itself_changes_nothing():
    [block] = compare({"t": small()}, {"t": small()})
    assert not block.changed and block.both == 12
    assert all(len(found) == 0 for found in block.lists.values())


def test_levels_are_listed_with_the_most_changed_first():
    """lpl 3 becomes a tenth of the value: 1, 2 … of cells of 10, 20, …: lower below 30, higher above."""
    every = "value > 0 and row != R and column != C"
    [block] = compare({"t": small(sensitive=every)}, {"t": small(sensitive=every, lpl="10% of value")})
    [lpl] = [one for one in block.levels if one.level == "lpl"]
    assert [(row.old, row.new) for row in lpl.tighter.rows()] == [(3, 6), (3, 5), (3, 4)]
    assert [(row.old, row.new) for row in lpl.looser.rows()] == [(3, 1), (3, 2)]
    assert all(len(one.tighter) == len(one.looser) == 0 for one in block.levels if one.level != "lpl")


def test_who_knows_more():
    old, new = small(), small(bounds="80% of value .. inf")
    [[before], [after]] = [compare({"t": a}, {"t": b})[0].attackers for a, b in ((old, new), (new, old))]
    assert (before.knows_more, before.knows_less) == (12, 0)
    assert (after.knows_more, after.knows_less) == (0, 12)


def test_what_came_and_what_went():
    [block] = compare({"t": small()}, {"t": small(sensitive="value = 40")})
    [came], [went] = (list(block.lists[name].rows()) for name in ("newly_sensitive", "no_longer_sensitive"))
    assert (came.label, came.why[0].text) == ("row = r2, column = c2", "sensitive t where value = 40")
    assert (went.label, went.why[0].text) == ("row = r1, column = c2", "sensitive t where value = 20")


def test_blocks_of_one_side_only():
    both = {"t": small()}
    [one, other] = compare(both, {**both, "s": small()})
    assert not one.changed and other.old is None and other.changed
    [renamed] = compare(both, {"s": small()})
    assert renamed.name == "s" and not renamed.changed
    assert np.array_equal(align(both["t"], both["t"]).old, np.arange(both["t"].n))
