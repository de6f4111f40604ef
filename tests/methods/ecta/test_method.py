"""ECTA as a method: what it publishes, what it says when it cannot, and what random tables ask of it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sdcdsl.accelerate.ecta.driver import solve
from sdcdsl.audit import audit
from sdcdsl.bind.problem import TableProblem
from sdcdsl.deadline import Deadline
from sdcdsl.methods.instance import Instance
from sdcdsl.methods.result import Progress, Result, SolveContext
from tests.attack.tables import cross, flat
from tests.methods.tiny_tables import changed, made, scaled, tiny_table


def table(seed: int = 1, share: float = 0.1, shape=(6, 7), sensitive: int = 5) -> TableProblem:
    n, relations = cross([flat(k) for k in shape])
    draw = np.random.default_rng(seed)
    a = np.ceil(draw.lognormal(3, 1, n))
    sums = {relation[0][1] for relation in relations}
    for relation in [*reversed(relations)] * 3:
        a[relation[0][1]] = sum(s * a[c] for s, c in relation[1:])
    cells = [int(i) for i in draw.choice([i for i in range(n) if i not in sums], sensitive, replace=False)]
    levels = np.stack([share * a[cells], share * a[cells], np.zeros(sensitive)])
    return made(n, relations, a, [(0, p) for p in cells], w=a, levels=levels)


def solved(problem: TableProblem, seconds: float | None = None, seed: int = 0, tell=None, **options) -> Result:
    return solve(
        problem, SolveContext({"tries": 4, **options}, Deadline(seconds), seed, None, tell or (lambda s: None))
    )


def assert_sound(problem: TableProblem, result: Result) -> None:
    """All that a release of this kind promises."""
    pattern = result.pattern
    assert pattern is not None and result.bound is None
    d = problem.dataset
    a, instance = d["a"].values, Instance(problem)
    if d.sizes["pair"]:
        assert audit(problem, pattern, exact=False).verdict == "protected"
    assert (pattern.low <= a).all() and (pattern.high >= a).all()
    hidden = instance.open_anyway
    assert np.isnan(pattern.value[hidden]).all() and np.isneginf(pattern.low[hidden]).all()
    v = pattern.value
    share = np.where(instance.sensitive, result.facts["alpha"], result.facts["beta"])
    shown = ~hidden
    assert (np.abs(v - a) <= share * np.abs(a) * (1 + 1e-12))[shown].all()
    assert (v == a)[shown & (d["status"].values == "z")].all()
    assert ((v >= d["lb"].values) & (v <= d["ub"].values))[shown].all()
    # Relations of published cells hold; with cells hidden, values for those can be found (unions follow anyway).
    M = instance.M
    whole = np.asarray(abs(M)[:, hidden].sum(axis=1) == 0).ravel()
    scale = abs(M) @ np.where(shown, np.abs(v), 0.0)
    rest = M @ np.where(shown, v, 0.0) - d["b"].values
    assert (np.abs(rest)[whole] <= 1e-9 * np.maximum(scale, 1e-9)[whole]).all()


@settings(max_examples=20, deadline=None, derandomize=True)
@given(st.integers(0, 10_000), st.sampled_from([0.3, 0.7, 1.0]), st.booleans())
def test_random_tables(seed: int, alpha: float, free: bool):
    problem = tiny_table(seed)
    result = solved(problem, alpha=alpha, tries=3, sensitive_free=free, seed=seed)
    if result.status == "feasible":
        assert_sound(problem, result)
        again = solved(problem, alpha=alpha, tries=3, sensitive_free=free, seed=seed)
        assert again.pattern is not None and result.pattern is not None
        np.testing.assert_array_equal(again.pattern.value, result.pattern.value)
    else:
        assert result.status in ("infeasible", "limit") and result.pattern is None
        assert result.notes or result.clashes


@pytest.mark.parametrize("norm", ["Linf", "L1", "L2"])
def test_a_table_like_any_other(norm: str):
    problem = table()
    told: list[Progress] = []
    result = solved(problem, tell=told.append, norm=norm)
    assert_sound(problem, result)
    assert result.status == "feasible" and result.objective == result.facts["beta"]
    assert result.facts["tries"] == len(told) == 4
    assert sum(result.facts["rounds"][0].values()) == 4
    assert told[-1].objective == result.objective
    assert set(result.seconds) == {"finding", "auditing"}
    assert result.pattern is not None
    assert result.pattern.about == ("α 0.3", f"β {result.objective:g}")
    other = solved(problem, seed=1, norm=norm)
    assert other.pattern is not None
    assert (other.pattern.value != result.pattern.value).any()


def test_other_units():
    problem = table(3)
    one = solved(problem)
    for times in (1e6, 1e-3, 1e9):
        other = solved(scaled(problem, times))
        assert_sound(scaled(problem, times), other)
        assert other.objective == pytest.approx(one.objective, rel=1e-3)


def test_negative_values_are_a_mirror_image():
    problem = table(2)
    d = problem.dataset
    mirrored = changed(
        scaled(problem, -1.0, costs=False),
        lpl=d["upl"].values,
        upl=d["lpl"].values,
        low=np.full_like(d["low"].values, -np.inf),
        high=np.zeros_like(d["high"].values),
        lb=d["lb"].values,
        ub=d["ub"].values,
        spl=d["spl"].values,
    )
    assert_sound(mirrored, solved(mirrored))


def test_an_alpha_too_small_for_a_cell():
    problem = table(share=0.4)
    result = solved(problem, alpha=0.3)
    assert result.status == "infeasible" and not result.facts.get("tries")
    assert result.facts["smallest alpha"] == pytest.approx(0.4)  # equal levels: their share of the value
    assert "5 cells" in result.notes[0] and "40 %" in result.notes[0]
    assert f"cell {problem.sensitive[0]} (40 %)" in result.notes[1]
    assert solved(problem, alpha=0.3999).status == "infeasible"
    enough = solved(problem, alpha=result.facts["smallest alpha"])
    assert_sound(problem, enough)


def test_an_alpha_too_small_for_all_cells_together():
    """Two sensitive cells add up to a published third: equal levels of 20 % ask for 0.96 of each at most and least."""
    values, relation = np.array([50.0, 50.0, 100.0]), [(1.0, 0), (1.0, 1), (-1.0, 2)]
    levels = np.array([[10.0, 10.0], [10.0, 10.0], [0.0, 0.0]])
    problem = made(3, [relation], values, [(0, 0), (0, 1)], status=np.array(["u", "u", "z"]), levels=levels)
    result = solved(problem, alpha=0.2)
    assert result.status == "infeasible"
    # v ≤ (1 + α) 40 must allow 50: α = 25 %
    assert result.facts["smallest alpha"] == pytest.approx(0.25, abs=1e-5)
    assert "no additive table" in result.notes[0] and "25" in result.notes[0]
    assert_sound(problem, solved(problem, alpha=0.2501))


def test_an_attacker_who_comes_too_near_whatever_is_drawn():
    """The partner of a sensitive cell may move by its own share only."""
    values, relation = np.array([100.0, 10.0, 110.0]), [(1.0, 0), (1.0, 1), (-1.0, 2)]
    status = np.array(["u", "u", "z"])
    levels = np.array([[20.0], [20.0], [0.0]])
    problem = made(3, [relation], values, [(0, 0)], status=status, levels=levels)
    result = solved(problem, alpha=0.3)
    assert result.status == "infeasible" and result.clashes[0].pair == 0
    # Up needs cell 1 at -10, and the attacker knows that nothing is negative.
    assert "a larger α does not help" in result.notes[0]
    easier = changed(problem, lpl=np.array([5.0]), upl=np.array([5.0]))
    result = solved(easier, alpha=0.1)
    assert result.status == "infeasible" and result.facts["smallest alpha"] is not None
    smallest = result.facts["smallest alpha"]
    assert 0.2 < smallest < 0.5
    assert solved(easier, alpha=0.999 * smallest, tries=30).status != "feasible"


def test_known_too_well_beforehand():
    problem = table()
    low = problem.dataset["low"].values.copy()
    cell = int(problem.sensitive[0])
    low[0, cell] = problem.dataset["a"].values[cell] * 0.99
    result = solved(changed(problem, low=low))
    assert result.status == "infeasible" and result.clashes[0].side == 0


def test_fixing_cells_at_their_values_helps():
    problem = tiny_table(81)
    result = solved(problem, alpha=0.9, tries=2, seed=81)
    assert_sound(problem, result)
    assert len(result.facts["rounds"]) == 2 and len(result.facts["fixed"]) == 1
    assert result.facts["rounds"][0]["not protected"] == 2


def test_nothing_left_to_fix():
    problem = tiny_table(58)
    result = solved(problem, alpha=0.3, tries=2, fix_at_a_time=2)
    assert result.status == "limit" and result.pattern is None
    assert "none of" in result.notes[0] and "proves nothing" in result.notes[1]


def test_beta_is_raised_before_cells_are_fixed():
    """The one other cell that can move is small: with the least β, and twice that, the sensitive cell cannot move far
    enough, though its own range is wide."""
    found = []
    for seed in range(40):
        problem = tiny_table(seed)
        result = solved(problem, alpha=1.0, tries=2, seed=seed)
        if result.notes and "raised" in result.notes[0]:
            found.append(seed)
            assert_sound(problem, result)
            if len(found) == 2:
                return
    pytest.fail("no such table")


def test_a_cap_on_beta():
    problem = table(4)
    free = solved(problem)
    assert free.objective is not None
    capped = solved(problem, beta=0.9 * free.objective, tries=10)
    if capped.status == "feasible":
        assert_sound(problem, capped)
        assert capped.objective is not None and capped.objective <= 0.9 * free.objective
    assert solved(problem, beta=0.0001, tries=2, fix_at_a_time=5).status != "feasible"


def test_no_time_no_pairs_no_sense():
    assert solved(table(), seconds=0).status == "limit"
    nothing = made(3, [[(1.0, 0), (1.0, 1), (-1.0, 2)]], np.array([1.0, 2.0, 3.0]), [])
    result = solved(nothing)
    assert result.status == "feasible" and result.objective == 0.0 and result.pattern is not None
    np.testing.assert_array_equal(result.pattern.value, [1.0, 2.0, 3.0])
    assert solved(table(), alpha=1.5).status == "failed"


def test_free_sensitive_cells_need_a_smaller_beta():
    problem = table(5)
    fixed, free = solved(problem), solved(problem, sensitive_free=True, tries=10)
    assert_sound(problem, free)
    assert fixed.objective is not None and free.objective is not None
    assert free.objective < fixed.objective
