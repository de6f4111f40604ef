"""What a hidden cell is needed for, against a fresh audit of the whole table with that cell published."""

from __future__ import annotations

from itertools import product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sdcdsl.audit import audit
from sdcdsl.audit.problem import stated_pairs
from sdcdsl.bind.problem import TableProblem
from sdcdsl.pattern import Pattern, hidden, intervals
from sdcdsl.pattern.pattern import EXACT
from sdcdsl.pipeline.publication_effect import needed_for, published
from tests.bind.policies import problem_of

POLICY = """\
sdc 1
policy "small"

dimension row {
  codes r1, r2, r3
  total R
}

dimension column {
  codes c1, c2, c3
  total C
}

table t {
  by row, column
  values
TABLE
}

SENSITIVE

attacker external {
  bounds 0 .. inf
}

attacker informed {
  bounds 50% of value .. 150% of value
}

protect t {
  lpl 20% of value
  upl 30% of value
  lpl 10% of value against informed
  conditional upl 5% of value
  against external, informed
  method csp
}
"""


def small(values: list[int], sensitive: set[int]) -> TableProblem:
    rows = "\n".join(f"    | r{i + 1} | {' | '.join(map(str, values[3 * i : 3 * i + 3]))} |" for i in range(3))
    places = [f"(row: r{i + 1}, column: c{j + 1})" for i, j in product(range(3), range(3)) if 3 * i + j in sensitive]
    text = POLICY.replace("TABLE", f"    | row \\ column | c1 | c2 | c3 |\n{rows}")
    return problem_of(text.replace("SENSITIVE", f"sensitive t at {', '.join(places)}"))


@st.composite
def released(draw) -> tuple[TableProblem, Pattern]:
    """A small table, some cells sensitive, and any pattern that hides them: safe or not."""
    values = draw(st.lists(st.integers(1, 60), min_size=9, max_size=9))
    sensitive = draw(st.sets(st.integers(0, 8), min_size=1, max_size=3))
    problem = small(values, sensitive)
    others = draw(st.lists(st.booleans(), min_size=problem.n, max_size=problem.n))
    a, must = problem.dataset["a"].values, problem.dataset["status"].values == "u"
    cells = must | np.array(others)
    if draw(st.booleans()):
        return problem, hidden(a, cells)
    room = np.where(cells, 0.4 * a, 0.0)
    return problem, intervals(a - room, a + room)


@settings(max_examples=25, deadline=None)
@given(released(), st.integers(0, 15))
def test_needed_for_agrees_with_an_audit_from_scratch(made: tuple[TableProblem, Pattern], which: int):
    problem, pattern = made
    open_cells = np.flatnonzero(pattern.status != EXACT)
    cell = int(open_cells[which % len(open_cells)])
    cell_at = problem.dataset["cell_at"].values
    before, after = verdicts(problem, pattern), verdicts(problem, published(problem, pattern, cell))
    expected = {p for p, found in after.items() if found[0] != "p" and before[p][0] == "p" and cell_at[p] != cell}
    found = needed_for(problem, pattern, cell)
    assert set(found.lost.tolist()) == expected
    assert {loss.cell for loss in found.losses} == {int(cell_at[p]) for p in expected}
    assert found.cells == len(found.losses)
    for loss in found.losses:
        mine = [p for p in expected if cell_at[p] == loss.cell]
        assert loss.attackers == len(mine)
        for now, made_from in ((loss.before, before), (loss.after, after)):
            assert any(np.allclose((now.low, now.high), made_from[p][1:], atol=1e-6) for p in mine)


def verdicts(problem: TableProblem, pattern: Pattern) -> dict[int, tuple[str, float, float]]:
    """Of every pair that counts: letter, low and high."""
    made = audit(problem, pattern)
    numbers = np.arange(problem.dataset.sizes["pair"])[stated_pairs(problem, pattern)]
    return dict(zip(numbers.tolist(), zip(made.verdicts.tolist(), made.low, made.high, strict=True), strict=True))
