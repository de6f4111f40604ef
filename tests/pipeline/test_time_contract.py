"""The contract of time: what was shown is not lost, whatever becomes of the search; the audit has its share of it; and
every method ends with a release, or with none, when its clock says so.

The clock of these searches runs by being looked at (`Looks`): what they do does not depend on the machine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from threading import Event
from typing import Any

import numpy as np
import pytest

from benchmarks.generators import cubic, frequency
from sdcdsl.audit import Audit, audit_release
from sdcdsl.bind.problem import TableProblem
from sdcdsl.deadline import Deadline
from sdcdsl.diagnostics import Diagnostic
from sdcdsl.methods.incumbents import Incumbents
from sdcdsl.methods.result import Result, SolveContext
from sdcdsl.methods.solving import run
from sdcdsl.outcome import End
from sdcdsl.pattern import hidden
from sdcdsl.pipeline import search, time_shares
from sdcdsl.pipeline.protect import planned, prepare
from sdcdsl.pipeline.rounds import NOT_AUDITED, TOO_LATE, Rounds
from sdcdsl.pipeline.time_shares import FOR_EXPERIMENTS, MOST, Shares, for_search, late
from sdcdsl.status import FEASIBLE, LIMIT, OPTIMAL
from tests.cli.protecting import Policies
from tests.pipeline.others import others  # noqa: F401
from tests.pipeline.test_pipeline import asked
from tests.pipeline.test_sums import SINGLETON
from tests.waiting import HANGS, Looks

EVERYTHING = 4 * 190.0  # what hiding all cells of the table costs


def test_a_search_that_does_not_come_back_leaves_what_it_had_in_hand(tmp_path, others, monkeypatch):  # noqa: F811
    monkeypatch.setattr(search, "GRACE", 0.2)
    made = prepare(asked(Policies(tmp_path)("method lingering {\n    time_limit 0.3 s\n  }")))
    [outcome] = made.outcomes
    assert made.end is End.DONE and outcome.verdict == "protected"
    assert (outcome.result.status, outcome.result.objective, outcome.result.bound) == (FEASIBLE, EVERYTHING, 59.0)
    assert any("did not come back" in note for note in outcome.result.notes)


def test_a_search_that_breaks_down_leaves_what_it_had_in_hand(tmp_path, others):  # noqa: F811
    made = prepare(asked(Policies(tmp_path)("method breaking")))
    [outcome] = made.outcomes
    assert made.end is End.DONE and outcome.result.objective == EVERYTHING
    assert any("ArithmeticError" in note for note in outcome.result.notes)


def test_where_the_audit_refuses_the_best_the_one_before_it_is_released(tmp_path, others):  # noqa: F811
    made = prepare(asked(Policies(tmp_path)("method overbold")))
    [outcome] = made.outcomes
    assert made.end is End.DONE and outcome.verdict == "protected"
    assert outcome.result.objective == EVERYTHING
    assert any("refused" in note for note in outcome.result.notes)


def test_releases_in_hand_get_better_and_few_are_kept() -> None:
    kept = Incumbents()
    pattern = hidden(np.ones(2), np.ones(2, dtype=bool))
    for objective in (9.0, 7.0, 8.0, 5.0, 4.0, 3.0):
        kept.offer(objective, lambda objective=objective: Result(FEASIBLE, pattern, objective))
    kept.bounded(2.0)
    kept.bounded(1.0)
    assert [(one.objective, one.bound) for one in kept.best_first()] == [(3.0, 2.0), (4.0, 2.0), (5.0, 2.0)]


def test_what_cannot_be_published_is_not_in_hand() -> None:
    kept = Incumbents()
    kept.offer(9.0, lambda: Result(FEASIBLE, hidden(np.ones(2), np.ones(2, dtype=bool)), 9.0))
    kept.offer(8.0, lambda: None)
    assert [one.objective for one in kept.best_first()] == [9.0]


def test_time_for_the_audit_is_set_aside() -> None:
    problem = cubic(1_000)
    assert for_search(Deadline(), problem, "ip").remaining == float("inf")
    whole = Deadline(1e6)
    kept = {method: 1e6 - for_search(whole, problem, method).remaining for method in ("ip", "csp", "cta")}
    assert kept["ip"] > kept["csp"] > kept["cta"] > 0  # of an adjusted table distances are all there is to look at
    assert for_search(whole, problem, "cta", experiments=True).remaining < 1e6 * (1 - FOR_EXPERIMENTS)
    assert for_search(Looks(1.0), cubic(3_375), "rounding").remaining >= (1 - MOST) * 0.9


def test_an_audit_that_is_late_is_told_of() -> None:
    assert late(Deadline()) == () and late(Deadline(1.0)) == ()
    over = Looks(1e-3)
    over.looks = 7_000
    assert "6 s after the limit" in " ".join(late(over)) or "7 s after the limit" in " ".join(late(over))


class Still(Deadline):
    """A clock that stands."""

    @property
    def elapsed(self) -> float:
        return 0.0


def test_an_audit_that_does_not_end_takes_nothing_away(tmp_path) -> None:
    """Of two releases the first is audited; the better one is given up with its audit."""
    request = asked(SINGLETON.write(tmp_path, "csp"), time_limit=1.0)
    [task] = planned(request).tasks
    a = task.problem.dataset["a"].values
    audits: list[Audit] = []

    def search(*_: object) -> Result:
        return Result(FEASIBLE, hidden(a, np.ones(len(a), dtype=bool)), 10.0 - len(audits), timed=True)

    def judge(problem: TableProblem, result: Result, *_: object) -> tuple[Audit | None, list[Diagnostic]]:
        if audits:
            Event().wait(HANGS)
        assert result.pattern is not None
        audits.append(audit_release(problem, result.pattern, exact=False))
        return audits[-1], []

    shares = Shares(Still(1.0), task.problem, "csp")
    made = Rounds(task.problem, task.plans[0], request, shares, search, judge).run()
    assert made.audit is audits[0] and made.result.objective == 10.0
    assert NOT_AUDITED in made.result.notes


@pytest.mark.parametrize("last", [False, True])
def test_a_search_that_protects_sums_itself_has_all_the_time(tmp_path, last: bool) -> None:
    """Another one would begin from the start. Where sums may be left over, a part of the time is kept for it."""
    request = asked(SINGLETON.write(tmp_path, "csp"), time_limit=1.0)
    [task] = planned(request).tasks
    a = task.problem.dataset["a"].values
    left: list[float] = []

    def search(_problem: object, _plan: object, _kept: object, deadline: Deadline, incumbents: Incumbents) -> Result:
        everything = Result(FEASIBLE, hidden(a, np.ones(len(a), dtype=bool)), 10.0, timed=not last)
        incumbents.offer(10.0, lambda: everything, last)
        left.append(deadline.remaining)
        return everything

    def judge(problem: TableProblem, made: Result, *_: object) -> tuple[Audit | None, list[Diagnostic]]:
        assert made.pattern is not None
        return audit_release(problem, made.pattern, exact=False), []

    shares = Shares(Still(1.0), task.problem, "csp")
    whole = shares.search.remaining
    assert Rounds(task.problem, task.plans[0], request, shares, search, judge).run().found_release
    assert left[0] == whole if last else left[0] <= whole / 2


def test_a_release_whose_audit_does_not_end_is_none(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(time_shares, "LATE", 0.0)
    request = asked(SINGLETON.write(tmp_path, "csp"), time_limit=0.1)
    [task] = planned(request).tasks
    a = task.problem.dataset["a"].values

    def search(*_: object) -> Result:
        return Result(FEASIBLE, hidden(a, np.ones(len(a), dtype=bool)), 10.0, 3.0, timed=True)

    def judge(*_: object) -> tuple[Audit | None, list[Diagnostic]]:
        Event().wait(HANGS)
        return None, []

    shares = Shares(Still(0.1), task.problem, "csp")
    made = Rounds(task.problem, task.plans[0], request, shares, search, judge).run()
    assert (made.result.status, made.result.pattern, made.audit) == (LIMIT, None, None)
    assert TOO_LATE in made.result.notes and NOT_AUDITED not in made.result.notes


# ---- every method on a table that it cannot finish ----------------------------------------------------------------


def alike(problem: TableProblem) -> TableProblem:
    return replace(problem, dataset=problem.dataset.assign(w=("cell", np.ones(problem.n))))


def magnitudes() -> TableProblem:
    return cubic(1_000, seed=3)


def few_magnitudes() -> TableProblem:
    return cubic(125, seed=3)


def counts() -> TableProblem:
    return alike(frequency(((9,),) * 3, seed=1))


def levels_of_two() -> TableProblem:
    d = (made := alike(cubic(512, seed=2))).dataset
    two = np.minimum(2.0, d["a"].values[d["cell_at"].values])
    return replace(made, dataset=d.assign(lpl=("pair", two), upl=("pair", 0 * two + 2)))


def within(problem: TableProblem) -> dict[str, Any]:
    far = np.maximum(np.ceil(0.3 * problem.dataset["a"].values), 5.0)
    return {"range": (-far, far), "end": "free"}


def rounded_or_hidden(problem: TableProblem) -> dict[str, Any]:
    first = np.arange(problem.n) < problem.n // 2
    return {"round": np.where(first, 3.0, np.nan), "suppress": ~first}


METHODS: dict[str, tuple[Callable[[], TableProblem], Callable[[TableProblem], dict[str, Any]]]] = {
    "csp": (magnitudes, lambda p: {}),
    "ip": (magnitudes, lambda p: {}),
    "cta": (magnitudes, lambda p: {"norm": "L1"}),
    "ecta": (few_magnitudes, lambda p: {"alpha": 0.5, "tries": 500}),
    "rounding": (counts, lambda p: {"base": 3.0}),
    "perturb": (levels_of_two, within),
    "combined": (counts, rounded_or_hidden),
}


@pytest.mark.long
@pytest.mark.parametrize("limit", [0.002, 0.05])
@pytest.mark.parametrize("method", METHODS)
def test_a_method_ends_when_its_clock_says_so(method: str, limit: float) -> None:
    """The clock goes a millisecond a look: a search that looks at it ends after so many looks, and one that does not
    hangs (`HANGS` of the suite). What it ends with is a release with its figures, or nothing."""
    make, options = METHODS[method]
    problem = make()
    given = {"gap": 0.0, "threads": 1, "time_limit": limit, **options(problem)}
    context = SolveContext(given, Looks(limit))
    result = run(problem, method, context)
    if result.pattern is None:
        assert result.status == LIMIT
        assert next(context.incumbents.best_first(), None) is None, "a release that was in hand was thrown away"
        return
    assert result.status in (FEASIBLE, OPTIMAL) and result.objective is not None
    assert result.bound is None or result.bound <= result.objective * (1 + 1e-9)
    for earlier in context.incumbents.best_first():
        assert earlier.objective is not None
        assert result.objective <= earlier.objective * (1 + 1e-3), "a better release was in hand"
