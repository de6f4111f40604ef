"""Levels against contributors are cut to what their own parts leave in sums, and never below what they leave."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import csr_array

from sdcdsl.bind.problem import TableProblem
from tests.audit.test_families import world
from tests.bind.policies import problem_of

PAIR = """sdc 1
policy "one large contributor beside a small one"

data m {
  csv "micro.csv"
  column unit = "unit"
}

dimension r {
  codes A, B, C
  total RT
}

table t {
  from m
  by r
  sum value
}

sensitive by threshold(4) where r = RT

attacker respondent {
  each unit
  knows own contribution
  bounds 50% of value .. 200% of value
}

protect t {
  lpl 20
  upl 1
  against respondent
  method csp { unions off }
}
"""


def reach(problem: TableProblem, attacker: int, cell: int, side: int) -> float:
    """How far the cell goes for who knows the box of this attacker, and nothing that is published."""
    d = problem.dataset
    view = int(d["view_of"].values[attacker])
    low, high = d["low"].values[view].copy(), d["high"].values[view].copy()
    mine = d["known_attacker"].values == attacker
    about = d["known_cell"].values[mine]
    np.maximum.at(low, about, d["known_low"].values[mine])
    np.minimum.at(high, about, d["known_high"].values[mine])
    entries = d["coefficient"].values, (d["equation_of"].values, d["cell_of"].values)
    M = csr_array(entries, shape=(problem.m, problem.n))
    cost = np.zeros(problem.n)
    cost[cell] = -side
    made = linprog(cost, A_eq=M, b_eq=d["b"].values, bounds=np.stack([low, high], axis=1))
    assert made.status == 0
    return float(-made.fun - side * d["a"].values[cell])


def test_a_sum_is_at_least_what_its_parts_are(tmp_path: Path):
    """The total of 114 is 107 of one unit, and 7 of two others, of which everybody knows the half."""
    (tmp_path / "micro.csv").write_text("r,value,unit\nA,107,u1\nB,4,u2\nC,3,u3\n", encoding="utf-8")
    problem = problem_of(PAIR, tmp_path)
    d = problem.dataset
    assert d["lpl"].values.max() == 20
    who = problem.attackers.index("respondent u1")
    mine = d["attacker_at"].values == who
    assert d["lpl"].values[mine] == pytest.approx([3.5], rel=1e-12)
    assert d["upl"].values[mine].tolist() == [1]
    assert reach(problem, who, int(d["cell_at"].values[mine][0]), -1) == pytest.approx(3.5)


@pytest.mark.parametrize("seed", [1, 3])
def test_levels_are_cut_to_no_less_than_attackers_reach(tmp_path: Path, seed: int):
    text = world(tmp_path, seed, unions="on").replace("10% of value", "40% of value")
    problem = problem_of(text, tmp_path)
    d = problem.dataset
    a, cell, attacker = d["a"].values, d["cell_at"].values, d["attacker_at"].values
    asked = np.maximum(1, 0.4 * a[cell])
    cut = np.flatnonzero((d["lpl"].values < asked) | (d["upl"].values < asked))
    assert len(cut)
    for pair in cut.tolist():
        for side, level in ((-1, d["lpl"].values[pair]), (1, d["upl"].values[pair])):
            far = reach(problem, int(attacker[pair]), int(cell[pair]), side)
            assert level >= min(asked[pair], far) * (1 - 1e-9)
