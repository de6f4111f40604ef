"""Interval protection as a method: options, limits, scales, and tables beyond the tiny ones."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from sdcdsl.accelerate.ip.driver import solve
from sdcdsl.audit import audit
from sdcdsl.bind.problem import TableProblem
from sdcdsl.deadline import Deadline
from sdcdsl.methods.result import Result, SolveContext
from tests.attack.tables import TREES, cross, flat
from tests.methods.oracle import Oracle
from tests.methods.tiny_tables import changed, made, scaled, tiny_table
from tests.tiers import short


def table(seed: int, dimensions, sensitive: int, lower: float, upper: float) -> TableProblem:
    """Whole numbers, an attacker who knows that nothing is negative, costs as values."""
    n, relations = cross(dimensions)
    draw = np.random.default_rng(seed)
    sums = {relation[0][1] for relation in relations}
    a = np.ceil(draw.lognormal(3, 1, n))
    for relation in [*reversed(relations)] * 3:
        a[relation[0][1]] = sum(s * a[c] for s, c in relation[1:])
    inner = [i for i in range(n) if i not in sums]
    cells = [int(i) for i in draw.choice(inner, sensitive, replace=False)]
    levels = np.stack([lower * a[cells], upper * a[cells], np.zeros(sensitive)])
    return made(n, relations, a, [(0, p) for p in cells], w=a, levels=levels)


def solved(problem: TableProblem, seconds: float | None = None, seed: int = 0, before=None, **options) -> Result:
    return solve(problem, SolveContext(options, Deadline(seconds), seed, before))


def widths(problem: TableProblem, result: Result) -> tuple[np.ndarray, np.ndarray]:
    assert result.pattern is not None
    a = problem.dataset["a"].values
    return a - result.pattern.low, result.pattern.high - a


def assert_protected(problem: TableProblem, result: Result) -> None:
    assert result.pattern is not None
    assert audit(problem, result.pattern, exact=False).verdict == "protected"


SHAPES = {
    "2-D": [flat(6), flat(7)],
    "hierarchy": [TREES[0], flat(6)],
    "3-D": [flat(3), flat(4), flat(3)],
    "3-D symmetric": [flat(4), flat(3), flat(3)],
    "two hierarchies": [TREES[0], TREES[2]],
}


@pytest.mark.parametrize("shape", [pytest.param(s, marks=pytest.mark.long) if s == "3-D" else s for s in SHAPES])
@pytest.mark.parametrize("seed", short(1, [2, 1]))
def test_as_good_as_the_first_model_and_the_same_in_other_units(shape: str, seed: int):
    levels = (0.2, 0.2) if "symmetric" in shape else (0.05, 0.2)
    problem = table(seed, SHAPES[shape], 5, *levels)
    best = Oracle(problem).intervals()
    result = solved(problem)
    assert result.status == "optimal"
    assert result.objective == pytest.approx(best, rel=1e-6)
    assert result.bound is not None and best is not None and result.bound <= best * (1 + 1e-9)
    assert_protected(problem, result)
    for times in (1e6, 1e-3):
        other = scaled(problem, times)
        again = solved(other)
        assert again.status == "optimal"
        assert again.objective == pytest.approx(best * times**2, rel=1e-6)
        assert_protected(other, again)


def test_levels_of_very_different_size():
    problem = table(4, SHAPES["2-D"], 5, 0.2, 0.2)
    huge = np.where(np.arange(problem.n) % 2 == 0, 1e9, 1.0)
    w = problem.dataset["w"].values * huge
    problem = changed(problem, w=w, upl=problem.dataset["upl"].values * np.array([1, 1e-3, 1, 1e-2, 1]))
    result = solved(problem)
    assert result.objective == pytest.approx(Oracle(problem).intervals(), rel=1e-6)
    assert_protected(problem, result)


@pytest.mark.parametrize("seed", [2, 5])
def test_a_cap_on_the_number_of_intervals(seed: int):
    """Against every choice of cells that may have an interval."""
    problem = tiny_table(seed, "2-D")
    plain = solved(problem)
    used = plain.facts["intervals"]
    status, published = problem.dataset["status"].values, problem.dataset["published"].values
    may = np.flatnonzero(published & (status != "z") & (status != "m"))
    cap = used - 1
    best = np.inf
    for chosen in combinations(may, cap) if cap >= 0 else ():
        out = np.where(np.isin(np.arange(problem.n), may) & ~np.isin(np.arange(problem.n), chosen), "z", status)
        found = Oracle(changed(problem, status=out)).intervals()
        best = best if found is None else min(best, found)
    result = solved(problem, cap_intervals=cap)
    if best == np.inf:
        assert result.status in ("infeasible", "limit") and result.pattern is None
        return
    assert result.status in ("optimal", "feasible")
    assert result.facts["intervals"] <= cap
    assert result.objective is not None and result.objective >= best * (1 - 1e-6)
    assert result.bound is not None and result.bound <= best * (1 + 1e-6)
    if result.status == "optimal":
        assert result.objective == pytest.approx(best, rel=2e-6)


def test_widths_are_kept():
    problem = table(1, SHAPES["2-D"], 5, 0.2, 0.2)
    plain = solved(problem)
    down, up = widths(problem, plain)
    most = float((down + up).max())
    capped = solved(problem, cap_width=0.9 * most)
    if capped.status == "optimal":
        down, up = widths(problem, capped)
        assert (down + up).max() <= 0.9 * most * (1 + 1e-6)
        assert capped.objective is not None and plain.objective is not None
        assert capped.objective >= plain.objective * (1 - 1e-6)
        assert_protected(problem, capped)
    least = 0.2 * most
    wide = solved(problem, 20, min_width=least)
    down, up = widths(problem, wide)
    used = down + up > 0
    assert (down + up)[used].min() >= least * (1 - 1e-9)
    assert_protected(problem, wide)
    impossible = solved(problem, cap_width=1e-3)
    assert impossible.status == "infeasible"


def test_ends_leave_the_centre():
    problem = table(3, SHAPES["3-D symmetric"], 5, 0.02, 0.02)
    plain, moved = solved(problem), solved(problem, avoid_centre=True, seed=7)
    assert plain.facts["centred"] >= 0.5
    assert any("middle" in note for note in plain.notes)
    assert moved.facts["centred"] == 0.0
    assert moved.objective is not None and plain.objective is not None
    assert plain.objective < moved.objective <= 1.1 * plain.objective
    assert_protected(problem, moved)
    again = solved(problem, avoid_centre=True, seed=7)
    assert np.array_equal(again.pattern.low, moved.pattern.low)  # type: ignore[union-attr]


def test_last_period_is_cheaper():
    problem = table(5, SHAPES["2-D"], 4, 0.1, 0.2)
    first = solved(problem)
    down, up = widths(problem, first)
    before = down + up > 0
    again = solved(problem, before=before, previous_discount=0.5)
    assert again.objective == pytest.approx(0.5 * first.facts.get("cost without discount", first.objective), rel=1e-6)
    assert again.facts["cost without discount"] == pytest.approx(first.objective, rel=1e-6)


def test_no_time_gives_no_intervals_and_little_time_valid_ones():
    problem = table(6, [flat(5), flat(5), flat(4)], 12, 0.1, 0.2)
    assert solved(problem, 0.0).status == "limit"
    result = solved(problem, 0.3)
    assert result.status in ("optimal", "feasible", "limit")
    if result.pattern is not None:
        assert_protected(problem, result)
