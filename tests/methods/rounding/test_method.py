"""Controlled rounding: against every table of multiples, the paper's table, tables that have none, levels too high."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sdcdsl.accelerate.cutting.separation import Separation
from sdcdsl.audit import audit
from sdcdsl.bind.problem import TableProblem
from sdcdsl.deadline import Deadline
from sdcdsl.methods.result import SolveContext
from sdcdsl.methods.solving import run
from sdcdsl.pattern import rounded
from tests.attack.tables import cross, flat
from tests.conftest import ROOT
from tests.methods.known import bound
from tests.methods.mixed.asking import asked, close, first_model, residual
from tests.methods.mixed.every_rounding import EveryRounding
from tests.methods.tiny import tiny
from tests.methods.tiny_tables import changed, made, scaled
from tests.waiting import HANGS

KNOWN = ROOT / "specs" / "known"
FIGURE_8 = np.array([[20, 50, 10, 80], [10, 20, 20, 50], [20, 30, 10, 60], [50, 100, 40, 190]])
HIER13 = Path(__file__).resolve().parents[4] / "shared" / "data" / "csplib" / "hier13.jj"


@pytest.fixture
def figure_1() -> TableProblem:
    return bound(KNOWN / "three-by-three-5-8-ip.sdc")


def like_figure_1(problem: TableProblem, table: np.ndarray) -> np.ndarray:
    """The table of the paper in the order of the problem's cells: totals first."""
    return np.roll(np.roll(table, 1, axis=0), 1, axis=1).ravel().astype(float)


@pytest.mark.parametrize("seed", range(25))
def test_the_best_of_all_tables_of_multiples(seed: int):
    problem, base = tiny(seed, totals=seed % 5 > 0), float(3 + 2 * (seed % 3))
    best = EveryRounding(problem, base).best()
    result = run(problem, "rounding", SolveContext({"base": base}, Deadline(HANGS)))
    if "steps" in result.facts or result.status == "infeasible":
        assert np.isinf(best)
    else:
        assert (result.status, close(result.objective, best)) == ("optimal", True)
        assert result.pattern is not None
        assert audit(problem, result.pattern).verdict == "protected"


@pytest.mark.parametrize("seed", [1, 6])
def test_the_first_model_agrees(seed: int):
    problem = tiny(seed)
    for steps in (0, 1):
        expected = first_model(problem, "rounding", base=5.0, steps=steps)
        result = asked(problem, "rounding", base=5.0, steps=steps)
        if expected is None:
            assert result.status == "infeasible" or "steps" in result.facts
        else:
            assert close(result.objective, expected)


def test_figure_8_is_a_release_of_ours(figure_1: TableProblem):
    """With r = 10 as the paper has it, the cell of 22 can be 10 to 30: levels of 5 and 8 are kept."""
    v = like_figure_1(figure_1, FIGURE_8)
    assert residual(figure_1, v) == 0
    assert audit(figure_1, rounded(v, np.full(16, 10.0))).verdict == "protected"
    result = asked(figure_1, "rounding", base=10.0)
    a, w = (figure_1.dataset[x].values for x in ("a", "w"))
    assert result.objective is not None
    assert result.objective <= (w * np.abs(v - a)).sum() + 1e-9
    assert result.pattern is not None
    assert residual(figure_1, result.pattern.value) == 0
    assert not (result.pattern.value % 10).any()


def causey() -> TableProblem:
    """A 2 × 2 × 2 table of counts without a zero-restricted rounding to base 2: found by trying all of them below."""
    n, relations = cross([flat(2), flat(2), flat(2)])
    inner = {(1, 1, 1): 0, (1, 1, 2): 1, (1, 2, 1): 1, (1, 2, 2): 0, (2, 1, 1): 1, (2, 1, 2): 0, (2, 2, 1): 0}
    a = np.zeros((3, 3, 3))
    for where, value in inner.items():
        a[where] = value
    for axis in range(3):
        a[(slice(None),) * axis + (0,)] = a.sum(axis=axis)
    return made(n, relations, a.ravel(), [])


def test_two_by_two_by_two_without_a_rounding():
    """Three of four cells on alternating corners are odd, and every line through two of them is even and must stay:
    nothing nearer exists, so values go a base further, and everybody is told."""
    problem = causey()
    assert np.isinf(EveryRounding(problem, 2.0).best())
    result = asked(problem, "rounding", base=2.0)
    assert result.facts["steps"] == 1
    assert "2 bases away" in result.notes[0]
    assert result.pattern is not None
    assert "at most 2 bases away" in result.pattern.about
    v, a = result.pattern.value, problem.dataset["a"].values
    assert residual(problem, v) == 0
    assert (np.abs(v - a) <= 4).all()
    assert ((result.pattern.high - v) == 4).all()


def test_further_multiples_when_asked_for(figure_1: TableProblem):
    near, far = (asked(figure_1, "rounding", base=10.0, steps=steps) for steps in (0, 1))
    assert far.objective is not None
    assert near.objective is not None
    assert far.objective <= near.objective
    assert far.pattern is not None
    assert ((far.pattern.high - far.pattern.low) == 40).all()


def test_bases_that_differ(figure_1: TableProblem):
    """Totals to 10, the rest to 5: every cell is a multiple of its own."""
    d = figure_1.dataset
    n_lines = np.bincount(d["cell_of"].values, weights=d["coefficient"].values < 0)
    base = np.where(n_lines > 0, 10.0, 5.0)
    result = asked(figure_1, "rounding", base=base)
    assert result.status == "optimal"
    assert result.pattern is not None
    assert not np.mod(result.pattern.value, base).any()
    assert residual(figure_1, result.pattern.value) == 0


def test_magnitudes_in_other_units(figure_1: TableProblem):
    small, large = asked(figure_1, "rounding", base=10.0), asked(scaled(figure_1, 1e6), "rounding", base=1e7)
    assert small.pattern is not None
    assert large.pattern is not None
    assert np.array_equal(large.pattern.value, small.pattern.value * 1e6)
    decimals = asked(scaled(figure_1, 0.001), "rounding", base=0.01)
    assert decimals.pattern is not None
    assert np.allclose(decimals.pattern.value, small.pattern.value * 0.001, rtol=1e-12)


def test_several_attackers_and_a_sliding_level(figure_1: TableProblem):
    """Who knows cells within 50 % cannot be kept as uncertain as who knows nothing."""
    d = figure_1.dataset
    a = d["a"].values
    two = d.assign(
        low=(("view", "cell"), np.stack([np.zeros(16), 0.5 * a])),
        high=(("view", "cell"), np.stack([np.full(16, np.inf), 1.5 * a])),
        view_of=("attacker", np.array([0, 1])),
    ).drop_vars(["lpl", "upl", "spl", "cell_at", "attacker_at"])
    pairs = {"lpl": [5.0, 5.0], "upl": [8.0, 4.0], "spl": [0.0, 15.0], "cell_at": [11, 11], "attacker_at": [0, 1]}
    own = int(np.flatnonzero(a == 22)[0])
    pairs["cell_at"] = [own, own]
    problem = replace(
        figure_1,
        dataset=two.assign({name: ("pair", np.array(values)) for name, values in pairs.items()}),
        attackers=("external", "near"),
    )
    result = asked(problem, "rounding", base=10.0)
    best = EveryRounding(problem, 10.0).best()
    assert close(result.objective, best)


def test_a_level_that_the_base_does_not_allow(figure_1: TableProblem):
    """22 to base 5 is published as 20 or 25, so that nobody who knows the base takes it for more than 30."""
    problem = changed(figure_1, upl=np.array([9.0]))
    result = run(problem, "rounding", SolveContext({"base": 5.0}, Deadline(HANGS)))
    assert result.facts["steps"] == 1
    assert "keeps the levels" in result.notes[0]
    problem = changed(figure_1, upl=np.array([60.0]))
    result = run(problem, "rounding", SolveContext({"base": 5.0}, Deadline(HANGS)))
    assert result.status == "infeasible"
    assert (result.clashes[0].need, result.clashes[0].reach) == (60, 38)  # 40 + 20 - 22, four bases away
    assert "4 bases away" in result.notes[-1]


def test_a_base_that_no_table_fits(figure_1: TableProblem):
    """The total of 101 must be published: no multiples of 10 add up to it."""
    a = figure_1.dataset["a"].values
    problem = changed(figure_1, status=np.where(a == 101, "z", figure_1.dataset["status"].values))
    result = run(problem, "rounding", SolveContext({"base": 10.0}, Deadline(HANGS)))
    assert result.status == "infeasible"
    assert "activity = Total, region = B" in result.notes[0]
    assert "multiples of 10" in result.notes[0]


@pytest.mark.long
def test_levels_leave_the_relaxation_of_a_network_whole(monkeypatch: pytest.MonkeyPatch):
    """Two dimensions: what a level asks of its own cell is said before anything is searched for, in whole multiples.
    What the relaxation gives is a release, then, and is asked about its levels once."""
    draw = np.random.default_rng(3)
    n, relations = cross([flat(30), flat(20)])
    inner = np.ceil(draw.lognormal(2, 1, (30, 20))) * (draw.random((30, 20)) < 0.8)
    table = np.block([[inner.sum(), inner.sum(0)], [inner.sum(1)[:, None], inner]])
    a = table.ravel()
    cells = draw.choice(np.flatnonzero(a > 0), 120, replace=False)
    levels = np.stack([np.minimum(2.0, a[cells]), np.full(120, 2.0), np.zeros(120)])
    problem = made(n, relations, a, [(0, int(cell)) for cell in cells], w=draw.integers(1, 9, n) * 1.0, levels=levels)
    rounds, ask = [], Separation.round
    monkeypatch.setattr(Separation, "round", lambda *args, **more: rounds.append(1) or ask(*args, **more))
    result = asked(problem, "rounding", base=5.0)
    assert (result.status, result.facts, len(rounds)) == ("optimal", {"rounds": 1, "cuts": 0}, 1)


@pytest.mark.long
@pytest.mark.skipif(not HIER13.is_file(), reason="the CSPLIB tables are not here")
def test_a_table_where_only_trial_finds_one():
    """hier13 has no rounding to base 5 next to the values; the one that is found is checked to the last digit."""
    from tests.methods.rounding.files import unprotected  # noqa: PLC0415

    problem = unprotected(HIER13)
    result = run(problem, "rounding", SolveContext({"base": 5.0, "gap": 0.2}, Deadline(HANGS)))
    assert result.facts["steps"] == 1
    assert result.pattern is not None
    assert residual(problem, result.pattern.value) == 0
    assert not (result.pattern.value % 5).any()
    assert result.gap is not None
    assert result.gap < 0.2
