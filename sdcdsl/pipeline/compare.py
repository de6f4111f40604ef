"""The same block under several methods and levels, one run each. Nothing is ever released from here.

A run is bound, searched and audited by `prepare`, as `protect` would; then it is audited once more for the exact
intervals that attackers are left with. Runs know nothing of each other, so that any number of them can be made at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any

from sdcdsl.audit import audit
from sdcdsl.bind.known_codes import unknown_codes
from sdcdsl.bind.options import option_values
from sdcdsl.bind.problem import TableProblem
from sdcdsl.bind.protect import bind_protect
from sdcdsl.bind.tables import Binding
from sdcdsl.diagnostics import Diagnostic, Severity
from sdcdsl.executing import SERIAL, Channel, SharedValue, Team
from sdcdsl.executing.timeouts import TimedOut, run_with_timeout
from sdcdsl.outcome import Outcome
from sdcdsl.pipeline.loss_and_risk import Left, left_to_attackers, loss
from sdcdsl.pipeline.method_plan import Plan
from sdcdsl.pipeline.protect import Bound, bind, search
from sdcdsl.pipeline.remote_progress import ProgressSender
from sdcdsl.pipeline.request import Request, Watch
from sdcdsl.pipeline.search import Task
from sdcdsl.pipeline.suggested_options import fitted
from sdcdsl.pipeline.variants import Variant, varied
from sdcdsl.policy import document as d
from sdcdsl.status import FAILED, FEASIBLE, INFEASIBLE, OPTIMAL
from sdcdsl.utility import Measures
from sdcdsl.vocabulary.methods import Limits

STOPPED = "stopped"  # beside the statuses of methods: somebody pressed Ctrl-C
SHARE_OF_INTERVALS = 0.1  # of a run's limit: for the exact intervals, however long the search took
NO_INTERVALS = "the exact intervals of attackers were not worked out within the time limit"
_TOO_FAR = "SDC320"  # a level beyond what an attacker's bounds leave open


@dataclass(frozen=True, eq=False)
class Run:
    """One method at one level, as it is sent to whoever makes it."""

    variant: str
    method: str
    factor: float
    request: Request
    chosen: str | None = None  # options that the data suggested

    @property
    def name(self) -> str:
        return f"{self.variant} × {self.factor:g}"


@dataclass(frozen=True, eq=False)
class Row:
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
    left: Left | None = None
    objective: float | None = None
    bound: float | None = None
    gap: float | None = None
    seconds: dict[str, float] = field(default_factory=dict)
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
        return self.verdict in ("protected", "far enough")


def bound_problem(request: Request) -> tuple[TableProblem | None, list[Diagnostic]]:
    """The block as the policy has it: what is wrong with it is wrong with every run."""
    [name] = request.blocks
    binding = Binding(request.policy, request.places, request.day)
    problem, found = bind_protect(binding, request.policy.protects[name])
    found += unknown_codes(request.policy, binding.dimensions)
    return problem, list(dict.fromkeys([*binding.diagnostics, *found]))


def runs_of(
    request: Request, problem: TableProblem, variants: Sequence[Variant], factors: Iterable[float]
) -> list[Run]:
    """All runs, method by method, in the order they are shown in."""
    [name] = request.blocks
    nonnegative = bool((problem.dataset["a"].values >= 0).all())
    factors = list(factors)
    out = []
    for variant in variants:
        for factor in factors:
            engine, chosen = fitted(variant, problem, factor)
            policy = varied(request.policy, name, engine, factor, nonnegative)
            out.append(Run(variant.label, variant.method, factor, replace(request, policy=policy), chosen))
    return out


Handed = tuple[SharedValue[TableProblem] | None, Run, tuple[Plan, ...], Bound]  # the problem apart from the rest


def handed_over(runs: Sequence[Run], team: Team) -> list[Handed]:
    """What `compared` takes of every run, with the data: whoever makes a run need not see our files. Runs at the same
    levels are about one problem, which is bound once and shared."""
    problems: dict[tuple[float, Any], tuple[TableProblem, SharedValue[TableProblem]]] = {}
    out: list[Handed] = []
    for run in runs:
        [name] = run.request.blocks
        [engine] = run.request.policy.protects[name].the(d.MethodChain).engines
        kind = run.factor, option_values(engine.options, Limits)["unions"]
        known = {name: (problems[kind][0], [])} if kind in problems else None
        bound = bind(run.request, known=known)
        if bound.wrong is not None:
            out.append((None, run, (), bound))
            continue
        [task] = bound.tasks
        if kind not in problems:
            problems[kind] = task.problem, team.share(task.problem)
        out.append((problems[kind][1], run, task.plans, replace(bound, tasks=())))
    return out


def compared(problem: TableProblem | None, run: Run, plans: tuple[Plan, ...], bound: Bound, line: Channel) -> Row:
    """A run, wherever it is made."""
    if problem is not None:
        bound = replace(bound, tasks=(Task(problem, plans),))
    return compare_one(run, ProgressSender(line), bound)


def compare_one(run: Run, watch: Watch | None = None, bound: Bound | None = None) -> Row:
    started = perf_counter()
    prepared = search(bound if bound is not None else bind(run.request), run.request, watch, SERIAL)
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
    return Row(
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


def _left(outcome: Outcome, run: Run, spent: float) -> tuple[Left | None, tuple[str, ...]]:
    """What attackers are left with, as far as that is known in the time that a run has."""
    pattern = outcome.pattern
    assert pattern is not None
    [name] = run.request.blocks
    [engine] = run.request.policy.protects[name].the(d.MethodChain).engines
    limit = run.request.instead.get("time_limit", option_values(engine.options, Limits)["time_limit"])

    def exact() -> Left | None:
        return left_to_attackers(audit(outcome.problem, pattern), run.factor)

    if limit is None:
        return exact(), ()
    try:
        return run_with_timeout(max(limit - spent, SHARE_OF_INTERVALS * limit), exact), ()
    except TimedOut:
        return None, (NO_INTERVALS,)


def not_made(run: Run, status: str, why: str) -> Row:
    """For a run that came to no end."""
    return Row(run.variant, run.method, run.factor, run.chosen, status, why=why)


def _nothing(run: Run, status: str, found: Iterable[Diagnostic]) -> Row:
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
