"""CSPLIB: tables of paper 001 that are small enough for a test."""

from __future__ import annotations

from pathlib import Path

import pytest

from sdcdsl.accelerate.ecta.driver import solve
from sdcdsl.audit import audit
from sdcdsl.deadline import Deadline
from sdcdsl.methods.result import SolveContext
from tests.bind.policies import bind_file
from tests.waiting import HANGS

POLICIES = Path(__file__).resolve().parents[2] / "data_policies"


@pytest.mark.parametrize(
    ("name", "alpha"),
    [
        pytest.param("hier13x7x7d", 0.3, marks=pytest.mark.long),
        ("targus", 0.334),  # its largest level is 33.4 % of the value
        # Its lower levels are the values themselves: only zero and α = 1 leave that open.
        pytest.param("table7", 1.0, marks=pytest.mark.long),
    ],
)
def test_a_protected_table_with_the_smallest_alpha_up_from_30_percent(shared_data, name: str, alpha: float):
    path = shared_data / "csplib" / f"{name}.jj"
    if not path.is_file():
        pytest.skip(f"{path.name} is not at hand")
    problem = bind_file(POLICIES / "csplib.sdc", {"t": path})["t"]
    if alpha > 0.3:
        refused = solve(problem, SolveContext({"alpha": 0.3, "tries": 2}, Deadline(HANGS)))
        assert refused.status == "infeasible"
        assert refused.facts["smallest alpha"] == pytest.approx(alpha)
    result = solve(problem, SolveContext({"alpha": alpha, "tries": 2}, Deadline(HANGS)))
    assert result.status == "feasible" and result.pattern is not None
    assert audit(problem, result.pattern, exact=False).verdict == "protected"
    assert result.facts["rounds"][0]["infeasible"] == 0
