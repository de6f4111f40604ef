"""Cell perturbation: against Figure 12 of paper 003 as a program of scipy, the paper's table, ends, caps, costs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sdcdsl.audit import audit
from sdcdsl.bind.problem import TableProblem
from sdcdsl.pattern import perturbed
from tests.attack.tables import cross, flat
from tests.conftest import ROOT
from tests.methods.known import bound
from tests.methods.mixed.asking import asked, close, first_model, residual
from tests.methods.mixed.figure_twelve import FigureTwelve
from tests.methods.rounding.test_method import like_figure_1
from tests.methods.tiny import tiny
from tests.methods.tiny_tables import changed, made, scaled, tiny_table

KNOWN = ROOT / "specs" / "known"
FIGURE_11 = np.array([[20, 50, 10, 80], [7, 16, 26, 49], [18, 35, 8, 61], [45, 101, 44, 190]])


@pytest.fixture
def figure_1() -> TableProblem:
    return bound(KNOWN / "three-by-three-5-8-ip.sdc")


def ranges(n: int, down: float, up: float) -> dict:
    return {"range": (np.full(n, -down), np.full(n, up))}


@pytest.mark.parametrize("seed", range(24))
def test_as_cheap_as_figure_12(seed: int):
    problem = tiny(seed) if seed % 2 else tiny_table(seed)
    down, up = (float(x) for x in np.random.default_rng(seed).integers(2, 12, 2))
    end, cap = ["free", "low", "high"][seed % 3], None if seed % 4 else 7
    best = FigureTwelve(problem, np.full(problem.n, down), np.full(problem.n, up), end).best(cap)
    result = asked(problem, "perturb", **ranges(problem.n, down, up), end=end, cap_changed=cap)
    if np.isinf(best):
        assert result.status == "infeasible"
    else:
        assert (result.status, close(result.objective, best)) == ("optimal", True)


@pytest.mark.parametrize("seed", [3, 9])
def test_the_first_model_agrees(seed: int):
    problem = tiny(seed)
    options = {**ranges(problem.n, 6.0, 8.0), "cap_changed": 6}
    assert close(asked(problem, "perturb", **options).objective, first_model(problem, "perturb", **options))


@pytest.mark.parametrize("seed", [0, 3, 4, 7])
def test_in_place_of_a_count_stands_a_count(seed: int):
    """A third of all ranges would be used in fractions: 2.5 up and down is 2 for a whole number."""
    problem = tiny(seed)
    counts = replace(problem, dataset=problem.dataset.assign_attrs(whole=1))
    reach = np.full(problem.n, 2.5)
    best = FigureTwelve(counts, reach, reach, whole=True).best()
    result = asked(counts, "perturb", **ranges(problem.n, 2.5, 2.5))
    assert close(result.objective, best if np.isfinite(best) else None)
    if result.pattern is not None:
        shown = ~np.isnan(result.pattern.value)
        assert (result.pattern.value[shown] == np.round(result.pattern.value[shown])).all()


def test_figure_11_is_a_release_of_ours(figure_1: TableProblem):
    """The paper's table with ranges of 4 up and down, 22 at the upper end of its own: it keeps levels of 4."""
    v = like_figure_1(figure_1, FIGURE_11)
    assert residual(figure_1, v) == 0
    problem = changed(figure_1, lpl=np.array([4.0]), upl=np.array([4.0]))
    assert audit(problem, perturbed(v, np.full(16, 8.0))).verdict == "protected"
    result = asked(problem, "perturb", **ranges(16, 4.0, 4.0), end="high")
    a, w = (problem.dataset[x].values for x in ("a", "w"))
    assert result.objective is not None
    assert result.objective <= (w * np.abs(v - a)).sum() + 1e-9
    assert result.pattern is not None
    assert result.pattern.value[a == 22] == 26


def test_ends_by_cell(figure_1: TableProblem):
    own = figure_1.dataset["a"].values == 22
    words = np.full(16, None, dtype=object)
    words[own] = "low"
    result = asked(figure_1, "perturb", **ranges(16, 8.0, 8.0), end=words)
    assert result.pattern is not None
    assert result.pattern.value[own] == 14


def test_a_cap_on_changes_and_a_cost_of_changing(figure_1: TableProblem):
    """Four cells of a rectangle are the least that can change."""
    a = figure_1.dataset["a"].values
    for options in ({"cap_changed": 4}, {}):
        problem = figure_1
        if not options:
            problem = figure_1.__class__(**{**figure_1.__dict__, "dataset": figure_1.dataset.copy()})
            problem.dataset["w_fixed"] = ("cell", np.full(16, 1e4))
        result = asked(problem, "perturb", **ranges(16, 10.0, 10.0), **options)
        assert result.pattern is not None
        assert (result.pattern.value != a).sum() == 4
    assert asked(figure_1, "perturb", **ranges(16, 10.0, 10.0), cap_changed=3).status == "infeasible"


def test_the_range_that_is_told_is_the_one_that_was_stated(figure_1: TableProblem):
    """A range cut off at 0 would tell that the value is near it."""
    result = asked(figure_1, "perturb", **ranges(16, 12.0, 8.0))
    assert result.pattern is not None
    assert np.allclose(result.pattern.high - result.pattern.low, 40)
    assert (result.pattern.value >= 0).all()


def test_in_other_units(figure_1: TableProblem):
    small = asked(figure_1, "perturb", **ranges(16, 8.0, 8.0))
    large = asked(scaled(figure_1, 1e6, costs=False), "perturb", **ranges(16, 8e6, 8e6))
    assert small.objective is not None
    assert large.objective == pytest.approx(1e6 * small.objective)


def test_ends_that_cannot_all_be_had():
    """All eight cells of 2 × 2 × 2 up by 5, and the totals up by no more than 5: other ends would do."""
    n, relations = cross([flat(2), flat(2), flat(2)])
    a = np.full((3, 3, 3), 10.0)
    for axis in range(3):
        a[(slice(None),) * axis + (0,)] = 2 * a[(slice(None),) * axis + (1,)]
    inner = np.flatnonzero(a.ravel() == 10)
    problem = made(n, relations, a.ravel(), [(0, int(c)) for c in inner], levels=np.full((3, 8), 2.0) * [[1], [1], [0]])
    result = asked(problem, "perturb", **ranges(n, 5.0, 5.0), end="high")
    assert result.status == "infeasible"
    assert "end free" in result.notes[0]
    assert asked(problem, "perturb", **ranges(n, 5.0, 5.0)).status == "optimal"


def test_a_level_that_the_range_does_not_allow(figure_1: TableProblem):
    """At either end of 22 ± 3, known to ± 6, one of the levels is missed: 5 below, 8 above."""
    result = asked(figure_1, "perturb", **ranges(16, 3.0, 3.0))
    assert result.status == "infeasible"
    assert (result.clashes[0].need, result.clashes[0].reach) == (5, 3)
