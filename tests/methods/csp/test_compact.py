"""The first model of cell suppression: known answers, everything tried on tiny tables, values far from one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sdcdsl.audit import audit
from sdcdsl.deadline import Deadline
from sdcdsl.methods.csp import model as compact
from sdcdsl.methods.result import SolveContext
from sdcdsl.methods.solving import by_model
from sdcdsl.solve.writing import write
from tests.methods.known import bound, expected
from tests.methods.tiny import best_hidden, tiny

KNOWN = Path(__file__).resolve().parents[3] / "specs" / "known"
GOLDEN = Path(__file__).parent / "golden"


FILES = sorted(KNOWN.glob("three-by-three-*-csp.sdc"))


@pytest.mark.parametrize(
    ("path", "backend"),
    [*((path, "highs") for path in FILES), (KNOWN / "three-by-three-10-8-30-csp.sdc", "scip")],
    ids=lambda part: part.stem if isinstance(part, Path) else part,
)
def test_known_answers(path: Path, backend: str):
    problem = bound(path)
    result = by_model(problem, compact, SolveContext({"backend": backend}))
    assert result.status == "optimal"
    assert result.objective == expected(path)["objective"]
    assert result.gap == 0
    assert result.pattern is not None
    assert audit(problem, result.pattern).verdict == "protected"
    if "pattern" in expected(path):  # II·B is the cell `activity = II, region = B`
        cells = [problem.label(int(i)) for i in np.flatnonzero(result.pattern.status == "x")]
        assert [label.replace("activity = ", "").replace(", region = ", "·") for label in cells] == expected(path)[
            "pattern"
        ].split()


# Networks and, from the third dimension on, tables that are none; the last has no valid pattern.
CASES = [*((seed, (2, 2)) for seed in (3, 4)), (3, (2, 2, 2)), (1, (2, 2))]


@pytest.mark.parametrize(("seed", "shape"), CASES)
def test_no_pattern_is_cheaper(seed: int, shape: tuple[int, ...]):
    problem = tiny(seed, shape, totals=len(shape) < 3)
    best = best_hidden(problem)
    result = by_model(problem, compact, SolveContext({}))
    assert result.status == ("infeasible" if best is None else "optimal")
    if best is not None:
        assert result.pattern is not None
        assert result.objective == pytest.approx(best)
        assert audit(problem, result.pattern).verdict == "protected"


@pytest.mark.parametrize("times", [1e9, 1e-6])
def test_a_table_in_other_units_gives_the_same_pattern(times: float):
    small, other = tiny(4), tiny(4, times=times)
    same = by_model(small, compact, SolveContext({})).pattern
    again = by_model(other, compact, SolveContext({})).pattern
    assert same is not None and again is not None
    np.testing.assert_array_equal(same.status, again.status)
    assert audit(other, again).verdict == "protected"


def test_large_bounds_do_not_leak():
    """Bounds of 1e12 around values below 200: a tolerance of 1e-6 on x would be worth a million."""
    problem = bound(KNOWN / "three-by-three-10-12-csp.sdc")
    problem.dataset["high"][:] = 1e12
    problem.dataset["low"][:] = -1e12
    result = by_model(problem, compact, SolveContext({}))
    # Nothing but additivity is left to know: any rectangle around II·C will do, the cheapest is A and III.
    assert result.objective == 22 + 8 + 17 + 12
    assert result.pattern is not None
    assert audit(problem, result.pattern).verdict == "protected"


def test_a_cap_on_hidden_cells():
    problem = bound(KNOWN / "three-by-three-10-12-csp.sdc")
    assert by_model(problem, compact, SolveContext({"cap_hidden": 4})).objective == 85
    assert by_model(problem, compact, SolveContext({"cap_hidden": 3})).status == "infeasible"


def test_cells_of_last_time_are_cheaper():
    problem = bound(KNOWN / "three-by-three-10-12-unit-cost-csp.sdc")
    before = np.isin(problem.dataset["a"].values, [20.0, 10.0, 8.0, 22.0])  # I·A, I·C, II·A, II·C: not enough slack
    again = np.isin(problem.dataset["a"].values, [19.0, 22.0, 32.0, 12.0])  # II·B, II·C, III·B, III·C
    for mask, same in ((before, False), (again, True)):
        context = SolveContext({"previous_discount": 0.5}, before=mask)
        result = by_model(problem, compact, context)
        assert result.pattern is not None
        assert np.array_equal(result.pattern.status == "x", mask) is same
        assert audit(problem, result.pattern).verdict == "protected"


def test_no_time_is_a_limit_and_not_an_answer():
    problem = bound(KNOWN / "three-by-three-10-12-csp.sdc")
    result = by_model(problem, compact, SolveContext({}, deadline=Deadline(0.0)))
    assert (result.status, result.pattern) == ("limit", None)


@pytest.mark.parametrize(
    ("name", "options"),
    [("three-by-three-10-12-csp", {}), ("three-by-three-10-8-30-csp", {"cap_hidden": 5})],
)
def test_the_model_as_a_file(name: str, options: dict, golden, tmp_path: Path):
    """Levels without and with a sliding one, and a cap: each family of constraints once."""
    path = tmp_path / "model.lp"
    write(compact.model(bound(KNOWN / f"{name}.sdc"), SolveContext(options)), path)
    golden(GOLDEN / f"{name}.lp", path.read_text(encoding="utf-8"))
