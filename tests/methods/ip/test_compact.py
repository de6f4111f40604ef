"""The first model of interval protection: known answers, duality with the attacker, widths, caps, fixed costs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sdcdsl.audit import audit
from sdcdsl.bind.problem import TableProblem
from sdcdsl.methods.ip import model as compact
from sdcdsl.methods.result import Result, SolveContext
from sdcdsl.methods.solving import by_model
from sdcdsl.solve.writing import write
from tests.methods.known import bound, expected
from tests.methods.tiny import tiny, valid

KNOWN = Path(__file__).resolve().parents[3] / "specs" / "known"
GOLDEN = Path(__file__).parent / "golden"


@pytest.fixture
def table() -> TableProblem:
    return bound(KNOWN / "three-by-three-5-8-ip.sdc")


def solved(problem: TableProblem, **options) -> Result:
    result = by_model(problem, compact, SolveContext(options))
    if result.pattern is not None:
        assert audit(problem, result.pattern).verdict == "protected"
        assert compact.objective(problem, result.pattern, SolveContext(options)) == pytest.approx(result.objective)
    return result


def widths(problem: TableProblem, result: Result) -> np.ndarray:
    assert result.pattern is not None
    return result.pattern.high - result.pattern.low


FILES = sorted(KNOWN.glob("three-by-three-*-ip.sdc"))


@pytest.mark.parametrize(
    ("path", "backend"),
    [*((path, "highs") for path in FILES), (KNOWN / "three-by-three-10-8-30-ip.sdc", "scip")],
    ids=lambda part: part.stem if isinstance(part, Path) else part,
)
def test_known_answers(path: Path, backend: str):
    result = solved(bound(path), backend=backend)
    assert result.status == "optimal"
    assert result.objective == pytest.approx(expected(path)["objective"], rel=1e-9)


@pytest.mark.parametrize(("seed", "shape"), [(4, (2, 2)), (7, (2, 2, 2))])
def test_intervals_are_valid_and_none_can_shrink(seed: int, shape: tuple[int, ...]):
    """By the attacker that is not ours; an end that costs something and could be drawn in would not be optimal."""
    problem = tiny(seed, shape)
    result = solved(problem)
    assert result.pattern is not None
    a = problem.dataset["a"].values
    down, up = a - result.pattern.low, result.pattern.high - a
    assert valid(problem, down, up)
    for side in (down, up):
        for cell in np.flatnonzero((side > 0) & np.isfinite(side)):
            kept = side[cell]
            side[cell] = 0.9 * kept
            assert not valid(problem, down, up), f"cell {cell} is wider than it need be"
            side[cell] = kept


@pytest.mark.parametrize("times", [1e9])
def test_a_table_in_other_units_costs_in_proportion(times: float):
    small, other = solved(tiny(3)), solved(tiny(3, times=times))
    assert small.objective is not None
    assert other.objective == pytest.approx(small.objective * times, rel=1e-6)


def test_a_cap_on_intervals(table: TableProblem):
    """Four cells of a rectangle are the least: A and III are cheapest (8 + 22 + 17 + 12), 5 down and 8 up each."""
    assert solved(table, cap_intervals=4).objective == pytest.approx((8 + 22 + 17 + 12) * 13)
    assert solved(table, cap_intervals=3).status == "infeasible"


def test_a_least_width(table: TableProblem):
    result = solved(table, min_width=20.0)
    used = widths(table, result)[widths(table, result) > 0]
    assert (used >= 20 - 1e-6).all()
    assert result.objective == pytest.approx((8 + 22 + 17 + 12) * 20)


def test_a_largest_width(table: TableProblem):
    assert solved(table, cap_width=13.0).objective == pytest.approx(767)
    assert solved(table, cap_width=12.0).status == "infeasible"  # II·C alone needs 13
    own = np.where(table.dataset["a"].values == 22.0, np.nan, 10.0)  # nothing is said about II·C
    result = solved(table, cap_width=own)
    assert (widths(table, result)[~np.isnan(own)] <= 10 + 1e-6).all()
    assert result.objective is not None
    assert result.objective > 767


def test_intervals_with_a_cost_of_their_own(table: TableProblem):
    """Apart from the widths each interval costs 1000, but II·A and III·A 5000: the rectangle moves to column B."""
    table.dataset["w_fixed"] = ("cell", np.where(np.isin(table.dataset["a"].values, [8.0, 17.0]), 5000.0, 1000.0))
    result = solved(table)
    assert result.pattern is not None
    assert sorted(table.dataset["a"].values[result.pattern.status == "i"]) == [12, 19, 22, 32]
    assert result.objective == pytest.approx((12 + 19 + 22 + 32) * 13 + 4000)


def test_ups_and_downs_cost_differently(table: TableProblem):
    """With ups for nothing only the fall of II·C by 5 costs: III·C, II·A and totals rise instead."""
    table.dataset["w_up"] = ("cell", np.zeros(table.n))
    table.dataset["w_down"] = ("cell", np.ones(table.n))
    result = solved(table)
    assert result.objective == pytest.approx(5)


def test_an_end_is_never_rounded_towards_the_value():
    a, z = np.array([1e9, 1e9, 3e15]), np.array([1.1, -1.1, 0.3])
    end = compact._end(a, z)
    assert (np.abs(end - a) >= np.abs(z)).all()


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("three-by-three-10-12-ip", {"cap_width": 40.0}),
        ("three-by-three-10-8-30-ip", {"min_width": 5.0, "cap_intervals": 6}),
    ],
)
def test_the_model_as_a_file(name: str, options: dict, golden, tmp_path: Path):
    path = tmp_path / "model.lp"
    write(compact.model(bound(KNOWN / f"{name}.sdc"), SolveContext(options)), path)
    golden(GOLDEN / f"{name}.lp", path.read_text(encoding="utf-8"))
