"""The same block under several methods and levels, one run each. Nothing is ever released from here.

A run is bound, searched and audited by `prepare`, as `protect` would; then it is audited once more for the exact
intervals that attackers are left with. Runs know nothing of each other, so that any number of them can be made at once,
each in a process of its own: a run that nobody can finish (a solver that crashes, no memory left) takes nothing else
with it.
"""

from __future__ import annotations

import os
import traceback
from collections.abc import Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any

from sdcdsl.audit import NOT_EXCLUDED, audit
from sdcdsl.bind.options import option_values
from sdcdsl.bind.problem import TableProblem
from sdcdsl.diagnostics import Diagnostic, Severity
from sdcdsl.executing import SERIAL, Channel, ClusterLost, SharedValue, Team, WorkerLost
from sdcdsl.executing.timeouts import TimedOut, run_with_timeout
from sdcdsl.outcome import Outcome
from sdcdsl.pipeline.bind import bind
from sdcdsl.pipeline.loss_and_risk import RemainingIntervals, left_to_attackers, loss
from sdcdsl.pipeline.method_plan import Plan
from sdcdsl.pipeline.protect import BlockTasks, planned, search
from sdcdsl.pipeline.remote_progress import ProgressReceiver, ProgressSender
from sdcdsl.pipeline.request import ProtectRequest, Watch
from sdcdsl.pipeline.search import BlockTask
from sdcdsl.pipeline.suggested_options import fitted
from sdcdsl.pipeline.variants import Variant, varied
from sdcdsl.policy import document as d
from sdcdsl.status import FAILED, FEASIBLE, INFEASIBLE, OPTIMAL
from sdcdsl.utility import Measures
from sdcdsl.vocabulary.methods import Limits

STOPPED = "stopped"  # beside the statuses of methods: somebody pressed Ctrl-C
SHARE_OF_INTERVALS = 0.1  # of a run's limit: for the exact intervals, however long the search took
NO_INTERVALS = "the exact intervals of attackers were not worked out within the time limit"
LOOK = 0.1  # seconds between two looks at what has ended
_TOO_FAR = "SDC320"  # a level beyond what an attacker's bounds leave open


@dataclass(frozen=True, eq=False)
class VariantRun:
    """One method at one level, as it is sent to whoever makes it."""

    variant: str
    method: str
    factor: float
    request: ProtectRequest
    chosen: str | None = None  # options that the data suggested

    @property
    def name(self) -> str:
        return f"{self.variant} × {self.factor:g}"


@dataclass(frozen=True, eq=False)
class CompareRow:
    """What became of a run, in plain figures. Without a release there are none, and `why` says why."""

    variant: str
    method: str
    factor: float
    chosen: str | None
    status: str
    verdict: str | None = None
    measures: Measures | None = None
    loss: float | None = None  # per cent
    attacked: bool = False  # False: nothing is claimed about changes, or nothing is sensitive
    left: RemainingIntervals | None = None
    objective: float | None = None
    bound: float | None = None
    gap: float | None = None
    seconds: dict[str, float] = field(default_factory=dict[str, float])
    why: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return f"{self.variant} × {self.factor:g}"

    @property
    def found(self) -> bool:
        return self.verdict is not None

    @property
    def safe(self) -> bool:
        return self.verdict in ("protected", NOT_EXCLUDED, "far enough")


class ComparisonWatch:
    """Told what becomes of the runs, by their numbers. This one does not care."""

    def of(self, number: int) -> Watch:
        """Who is told about one run."""
        return Watch()

    def ended(self, number: int, row: CompareRow) -> None:
        """A run is done, whatever came of it."""

    def pending(self, left: Iterable[int]) -> bool:
        """Called again and again while runs are under way; False ends them."""
        return True


def bound_problem(request: ProtectRequest) -> tuple[TableProblem | None, list[Diagnostic]]:
    """The block as the policy has it: what is wrong with it is wrong with every run."""
    [name] = request.blocks
    bound = bind(request)
    return bound.problems.get(name), list(bound.found)


def runs_of(
    request: ProtectRequest, problem: TableProblem, variants: Sequence[Variant], factors: Iterable[float]
) -> list[VariantRun]:
    """All runs, method by method, in the order they are shown in."""
    [name] = request.blocks
    nonnegative = bool((problem.dataset["a"].values >= 0).all())
    factors = list(factors)
    out: list[VariantRun] = []
    for variant in variants:
        for factor in factors:
            engine, chosen = fitted(variant, problem, factor)
            policy = varied(request.policy, name, engine, factor, nonnegative)
            out.append(VariantRun(variant.label, variant.method, factor, replace(request, policy=policy), chosen))
    return out


def compare_all(runs: Sequence[VariantRun], team: Team, watch: ComparisonWatch) -> list[CompareRow]:
    """Rows come in the order of the runs, whatever order they end in."""
    rows: dict[int, CompareRow] = {}
    futures: dict[Future[CompareRow], int] = {}
    for number, (run, task) in enumerate(zip(runs, handed_over(runs, team), strict=True)):
        line = ProgressReceiver(run.name, watch.of(number)).line
        futures[team.submit(compared, *task, line)] = number
    left = set(futures)
    while left and watch.pending([futures[one] for one in left]):
        ended, left = wait(left, LOOK, FIRST_COMPLETED)
        for future in sorted(ended, key=lambda one: futures[one]):
            number = futures[future]
            rows[number] = _row(future, runs[number])
            watch.ended(number, rows[number])
    if left:
        team.dismiss()
    return [rows.get(i) or not_made(run, STOPPED, "stopped by Ctrl-C") for i, run in enumerate(runs)]


def _row(future: Future[CompareRow], run: VariantRun) -> CompareRow:
    error = future.exception()
    if error is None:
        return future.result()
    if isinstance(error, ClusterLost):
        return not_made(run, FAILED, f"the cluster was lost: {error}")
    if isinstance(error, WorkerLost):
        return not_made(run, FAILED, str(error))
    if "SDCDSL_TRACEBACK" in os.environ:
        traceback.print_exception(error)
    # A bug in one method: the others go on. What the error says may quote data.
    return not_made(run, FAILED, f"a bug: {type(error).__name__}")


Handed = tuple[
    SharedValue[TableProblem] | None, VariantRun, tuple[Plan, ...], BlockTasks
]  # the problem apart from the rest


def handed_over(runs: Sequence[VariantRun], team: Team) -> list[Handed]:
    """What `compared` takes of every run, with the data: whoever makes a run need not see our files. Runs at the same
    levels are about one problem, which is bound once and shared."""
    problems: dict[tuple[float, Any], tuple[TableProblem, SharedValue[TableProblem]]] = {}
    out: list[Handed] = []
    for run in runs:
        [name] = run.request.blocks
        [engine] = run.request.policy.protects[name].the(d.MethodChain).engines
        kind = run.factor, option_values(engine.options, Limits)["unions"]
        known = {name: problems[kind][0]} if kind in problems else None
        tasks = planned(run.request, known=known)
        if tasks.wrong is not None:
            out.append((None, run, (), tasks))
            continue
        [task] = tasks.tasks
        if kind not in problems:
            problems[kind] = task.problem, team.share(task.problem)
        out.append((problems[kind][1], run, task.plans, replace(tasks, tasks=())))
    return out


def compared(
    problem: TableProblem | None, run: VariantRun, plans: tuple[Plan, ...], tasks: BlockTasks, line: Channel
) -> CompareRow:
    """A run, wherever it is made."""
    if problem is not None:
        tasks = replace(tasks, tasks=(BlockTask(problem, plans),))
    return compare_one(run, ProgressSender(line), tasks)


def compare_one(run: VariantRun, watch: Watch | None = None, tasks: BlockTasks | None = None) -> CompareRow:
    started = perf_counter()
    prepared = search(tasks if tasks is not None else planned(run.request), run.request, watch, SERIAL)
    if not prepared.outcomes:
        errors = [one for one in prepared.diagnostics if one.severity is Severity.ERROR]
        too_far = all(one.code == _TOO_FAR for one in errors)
        return _nothing(run, INFEASIBLE if too_far else FAILED, errors)
    [outcome] = prepared.outcomes
    result = outcome.result
    if result.status not in (OPTIMAL, FEASIBLE) or outcome.pattern is None:
        return replace(_nothing(run, result.status, outcome.found), seconds=_seconds(outcome))
    begun = perf_counter()
    claims = outcome.pattern.claims
    left, notes = None, result.notes
    if claims and outcome.audit is not None:
        left, late = _left(outcome, run, begun - started)
        notes = (*notes, *late)
    seconds = _seconds(outcome)
    seconds["audit"] = seconds.get("audit", 0.0) + perf_counter() - begun
    far = not claims and outcome.verdict == "protected"
    return CompareRow(
        run.variant,
        run.method,
        run.factor,
        run.chosen,
        result.status,
        "far enough" if far else outcome.verdict or "wrong",
        outcome.measures,
        loss(outcome.problem, outcome.pattern),
        left is not None,
        left,
        result.objective,
        result.bound,
        result.gap,
        seconds,
        _why(outcome.found),
        notes,
    )


def _left(outcome: Outcome, run: VariantRun, spent: float) -> tuple[RemainingIntervals | None, tuple[str, ...]]:
    """What attackers are left with, as far as that is known in the time that a run has."""
    pattern = outcome.pattern
    assert pattern is not None
    [name] = run.request.blocks
    [engine] = run.request.policy.protects[name].the(d.MethodChain).engines
    limit = run.request.instead.get("time_limit", option_values(engine.options, Limits)["time_limit"])

    def exact() -> RemainingIntervals | None:
        return left_to_attackers(audit(outcome.problem, pattern), run.factor)

    if limit is None:
        return exact(), ()
    try:
        return run_with_timeout(max(limit - spent, SHARE_OF_INTERVALS * limit), exact), ()
    except TimedOut:
        return None, (NO_INTERVALS,)


def not_made(run: VariantRun, status: str, why: str) -> CompareRow:
    """For a run that came to no end."""
    return CompareRow(run.variant, run.method, run.factor, run.chosen, status, why=why)


def _nothing(run: VariantRun, status: str, found: Iterable[Diagnostic]) -> CompareRow:
    return not_made(run, status, _why(found) or "nothing was found")


def _why(found: Iterable[Diagnostic]) -> str | None:
    for one in found:
        if one.severity is Severity.ERROR:
            return "; ".join([one.headline, *one.notes[:1]])
    return None


def _seconds(outcome: Outcome) -> dict[str, float]:
    """Reading the data is not what methods are compared by."""
    seconds: dict[str, Any] = {phase: value for phase, value in outcome.seconds.items() if phase != "bind"}
    return seconds
