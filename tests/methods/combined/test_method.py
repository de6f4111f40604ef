"""Combined methods: one part is the single method, mixtures as the first model has them, caps and widths."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sdcdsl
from sdcdsl.audit import audit
from sdcdsl.bind.problem import TableProblem
from sdcdsl.deadline import Deadline
from sdcdsl.methods.result import SolveContext
from sdcdsl.methods.solving import run
from sdcdsl.pattern import Pattern, hidden
from sdcdsl.pattern.pattern import CHANGED, EXACT, HIDDEN, INTERVAL
from tests.conftest import ROOT
from tests.methods.known import bound
from tests.methods.mixed.asking import asked, close, first_model
from tests.methods.tiny import tiny
from tests.methods.tiny_tables import tiny_table
from tests.waiting import HANGS

KNOWN = ROOT / "specs" / "known"


@pytest.fixture
def figure_1() -> TableProblem:
    return bound(KNOWN / "three-by-three-5-8-ip.sdc")


Case = tuple[dict[str, Any], str, dict[str, Any]]


def everywhere(problem: TableProblem) -> np.ndarray:
    return np.ones(problem.n, dtype=bool)


@pytest.mark.parametrize("seed", range(16))
def test_one_part_is_the_single_method(seed: int):
    problem = tiny(seed) if seed % 2 else tiny_table(seed)
    cells, amount = everywhere(problem), np.full(problem.n, 7.0)
    cases: list[Case] = [
        ({"suppress": cells}, "csp", {}),
        ({"interval": cells}, "ip", {}),
        ({"perturb": amount}, "perturb", {"range": (-amount, amount)}),
        ({"round": amount}, "rounding", {"base": amount}),
    ]
    for options, method, own in cases:
        one, other = (asked(problem, name, **said) for name, said in (("combined", options), (method, own)))
        if "steps" in other.facts:  # a part that is rounded has no steps
            assert one.status == "infeasible"
        else:
            assert (one.status, close(one.objective, other.objective)) == (other.status, True), method


@pytest.mark.parametrize("seed", [0, 2, 5, 11])
def test_mixtures_are_as_cheap_as_the_first_model_says(seed: int):
    problem, draw = tiny(seed), np.random.default_rng(seed)
    form = draw.integers(0, 5, problem.n)
    form[problem.dataset["status"].values == "u"] = draw.integers(0, 2)
    options = {
        "suppress": form == 0,
        "interval": form == 1,
        "perturb": np.where(form == 2, 4.0, np.nan),
        "round": np.where(form == 3, 5.0, np.nan),
        "cap_width": 20.0,
        "cap_changed": 3,
    }
    assert close(asked(problem, "combined", **options).objective, first_model(problem, "combined", **options))


def count(pattern: Pattern | None, status: str) -> int:
    assert pattern is not None
    return int((pattern.status == status).sum())


def test_caps_hold_overall_and_by_part(figure_1: TableProblem):
    a = figure_1.dataset["a"].values
    half = a < 20
    free = asked(figure_1, "combined", suppress=half, interval=~half)
    least = count(free.pattern, HIDDEN) + count(free.pattern, INTERVAL)
    assert least >= 4
    capped = asked(figure_1, "combined", suppress=half, interval=~half, cap_hidden=1)
    assert count(capped.pattern, HIDDEN) <= 1
    assert capped.objective is not None
    assert free.objective is not None
    assert capped.objective >= free.objective
    some = asked(
        figure_1, "combined", interval=everywhere(figure_1), cap_intervals=((4, everywhere(figure_1)), (1, half))
    )
    assert some.pattern is not None
    used = some.pattern.status == INTERVAL
    assert used.sum() <= 4
    assert (used & half).sum() <= 1
    assert asked(figure_1, "combined", interval=everywhere(figure_1), cap_intervals=3).status == "infeasible"


def test_widths(figure_1: TableProblem):
    result = asked(figure_1, "combined", interval=everywhere(figure_1), min_width=20.0)
    assert result.pattern is not None
    width = (result.pattern.high - result.pattern.low)[result.pattern.status == INTERVAL]
    assert (width >= 20 - 1e-6).all()
    narrow = asked(figure_1, "combined", interval=everywhere(figure_1), cap_width=13.0)
    assert narrow.objective == pytest.approx(767)
    assert asked(figure_1, "combined", interval=everywhere(figure_1), cap_width=12.0).status == "infeasible"


def test_every_form_at_once(figure_1: TableProblem):
    """Totals as they are but for rounded ones of regions, II in intervals, III perturbed, I may be hidden."""
    label = [figure_1.label(i) for i in range(figure_1.n)]
    row = [name.split("activity = ")[1].split(",")[0] for name in label]
    total = np.array(["region = Total" in name for name in label])
    options = {
        "suppress": np.array([r == "I" for r in row]) & ~total,
        "interval": np.array([r == "II" for r in row]),
        "perturb": np.where([r == "III" for r in row], 6.0, np.nan),
        "round": np.where(np.array([r == "Total" for r in row]) & ~total, 5.0, np.nan),
    }
    result = asked(figure_1, "combined", **options)
    assert result.status == "optimal"
    assert count(result.pattern, EXACT) > 0
    assert count(result.pattern, CHANGED) >= 4
    assert count(result.pattern, INTERVAL) >= 1
    assert close(result.objective, first_model(figure_1, "combined", **options))


@pytest.mark.long
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000), spare=st.floats(1.0, 3.0))
def test_a_valid_suppression_pattern_is_a_valid_interval_pattern(seed: int, spare: float):
    """Paper 003, section 4: intervals as wide as the widest attacker's slack, or any wider, in place of asterisks."""
    problem = tiny(seed)
    made = run(problem, "csp", SolveContext({}, Deadline(HANGS)))
    if made.pattern is None:
        return
    d = problem.dataset
    gone = made.pattern.status == HIDDEN
    a, low, high = d["a"].values, d["low"].values.min(axis=0), d["high"].values.max(axis=0)
    box = Pattern(
        np.where(gone, a - spare * (a - low), a),
        np.where(gone, a + spare * (high - a), a),
        np.where(gone, np.nan, a),
        np.where(gone, INTERVAL, EXACT),
    )
    assert audit(problem, hidden(a, gone)).verdict == "protected"
    assert audit(problem, box).verdict == "protected"


CAPPED = """sdc 1
dimension r {
  codes R0, R1, R2
  total RT
}
dimension c {
  codes C0, C1, C2
  total CT
}
table t {
  by r, c
  values
    | r \\ c | C0 | C1 | C2 |
    | R0     | 20 | 50 | 10 |
    | R1     |  8 | 19 | 22 |
    | R2     | 17 | 32 | 12 |
}
sensitive t at (r: R0, c: C0)
suppress t at (r: R2, c: C2)
attacker e {
  bounds 0 .. inf
}
protect t {
  lpl 2
  upl 2
  against e
  method combined {
    suppress where value >= 0
    cap_hidden CAP
  }
}
"""


@pytest.mark.parametrize("cap", [4, 5, 6])
def test_a_cap_counts_cells_that_the_policy_hides(cap: int):
    """Four cells protect R0 C0; R2 C2, hidden by a statement, can be one of them, the corner of a rectangle."""
    made = sdcdsl.load(CAPPED.replace("CAP", str(cap))).protect()["t"]
    assert (made.pattern.status == HIDDEN).sum() <= cap


def test_a_cap_below_what_the_policy_hides_anyway():
    with pytest.raises(sdcdsl.Refused):
        sdcdsl.load(CAPPED.replace("CAP", "3")).protect()
