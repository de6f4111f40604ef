"""One block of a policy: search, audit, experiments."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any

import numpy as np

from sdcdsl.audit import Audit, audit_release
from sdcdsl.bind.naming import cells, first_cells
from sdcdsl.bind.problem import TableProblem
from sdcdsl.deadline import Deadline
from sdcdsl.diagnostics import Diagnostic, diagnostic
from sdcdsl.executing import SERIAL, ClusterLost, Team, WorkerLost
from sdcdsl.executing.timeouts import TimedOut, run_with_timeout
from sdcdsl.methods.checkpoint import Checkpointer
from sdcdsl.methods.cta import settings as cta
from sdcdsl.methods.incumbents import Incumbents
from sdcdsl.methods.result import Progress, Result
from sdcdsl.methods.solving import run, unavailable
from sdcdsl.outcome import SAFE, Attempt, Changes, End, Outcome
from sdcdsl.pattern import Pattern
from sdcdsl.pattern.pattern import EXACT, HIDDEN, misstated
from sdcdsl.pipeline.conflicts import nothing_found
from sdcdsl.pipeline.method_plan import Plan, context_of
from sdcdsl.pipeline.preflight import not_available
from sdcdsl.pipeline.request import ProtectRequest, Watch
from sdcdsl.pipeline.rounds import Rounds, SearchRound
from sdcdsl.pipeline.time_shares import Shares, late
from sdcdsl.pipeline.unexpected_errors import described
from sdcdsl.policy import document as d
from sdcdsl.risk import assess, stated, unfit
from sdcdsl.status import FAILED, FEASIBLE, INFEASIBLE, OPTIMAL
from sdcdsl.utility import measure
from sdcdsl.vocabulary.methods import METHODS

GRACE, SHARE_OF_GRACE = 4.0, 0.04  # seconds, and share of its limit, after which a search is given up
LAST_IN_HAND = "the release is the best that the search had in hand"


@dataclass(frozen=True, eq=False)
class BlockTask:
    """A block that has met its data."""

    problem: TableProblem
    plans: tuple[Plan, ...]  # one for each method of the chain
    seconds: dict[str, float] = field(default_factory=dict[str, float])


def protected(task: BlockTask, request: ProtectRequest, watch: Watch, team: Team = SERIAL) -> Outcome:
    """One block: the methods of its chain until one gives a pattern, the audit of that, and the experiments. The team
    may be asked for parts of each."""
    attempts: list[Attempt] = []
    found: list[Diagnostic] = []
    seconds = dict(task.seconds)
    protect = request.policy.protects[task.problem.name]
    for plan in task.plans:
        if (why := unavailable(plan.engine.name)) is not None:
            found.append(not_available(plan.engine, why))
            break
        held: list[Checkpointer] = []
        deadline = Deadline(plan.options.get("time_limit"))  # of search, audit, experiments and writing
        try:
            made = _searched_in_rounds(task.problem, plan, request, watch, team, seconds, held, deadline)
        except ClusterLost as error:
            lost_it = cluster_lost(task, plan, error, *held[-1:])
            return _without_cluster(task, plan, attempts, [*found, lost_it], seconds)
        problem, result, judged = made.problem, made.result, made.audit
        attempts.append(Attempt(plan.engine.name, result))
        for phase, passed in result.seconds.items():
            seconds[phase] = seconds.get(phase, 0.0) + passed
        if made.found_release and result.pattern is not None:
            outcome = Outcome(
                problem.name,
                problem,
                tuple(attempts),
                judged,
                _changes(problem, result.pattern, made.plan) if judged is not None else None,
                measure(problem, result.pattern) if judged is not None else None,
                seconds=seconds,
                found=made.found,
            )
            try:
                safe = outcome.end is End.DONE
                return _assessed(outcome, made.plan, protect, request, watch, team, deadline) if safe else outcome
            except ClusterLost as error:
                lost_it = cluster_lost(task, plan, error, *held[-1:])
                return _without_cluster(task, plan, attempts[:-1], [*found, lost_it], seconds)
        stopped = watch.stopped(task.problem.name)
        found += [*made.found, *_unfound(problem, protect, made.plan, result, request, stopped)]
        if stopped:
            break
    return Outcome(task.problem.name, task.problem, tuple(attempts), seconds=seconds, found=tuple(found))


def _unfound(
    problem: TableProblem, protect: d.Block, plan: Plan, result: Result, request: ProtectRequest, stopped: bool = False
) -> list[Diagnostic]:
    try:
        return nothing_found(problem, protect, plan, result, request.policy, stopped)
    except Exception as error:  # the reasons are looked for with the engines that may have failed
        headline = f"`{plan.engine.name}` found no release of `{problem.name}`, and why could not be worked out"
        return [diagnostic("SDC512", headline, plan.engine.span, notes=[*result.notes, described(error)])]


def lost(task: BlockTask, request: ProtectRequest, error: WorkerLost) -> Outcome:
    """A block that nobody came back from."""
    plan, protect, why = task.plans[0], request.policy.protects[task.problem.name], str(error)
    if isinstance(error, ClusterLost):
        return _without_cluster(task, plan, [], [cluster_lost(task, plan, error)], dict(task.seconds))
    result = Result(FAILED, notes=(why,))
    found = _unfound(task.problem, protect, plan, result, request)
    attempt = Attempt(plan.engine.name, result)
    return Outcome(task.problem.name, task.problem, (attempt,), seconds=dict(task.seconds), found=tuple(found))


def cluster_lost(
    task: BlockTask, plan: Plan, error: ClusterLost, checkpointer: Checkpointer | None = None
) -> Diagnostic:
    """What the search had found is kept for the next run."""
    kept = False
    if checkpointer is not None:
        with suppress(Exception):  # the search ended in the middle of something
            kept = checkpointer.now()
    notes = [str(error), "what was found is in the checkpoint" if kept else "nothing was found that could be kept"]
    help = "--resume goes on from there, on a cluster or without one" if kept else None
    headline = f"the cluster was lost while it worked on `{task.problem.name}`: nothing is released"
    return diagnostic("SDC522", headline, plan.engine.span, notes=notes, help=help)


def _without_cluster(
    task: BlockTask, plan: Plan, attempts: list[Attempt], found: list[Diagnostic], seconds: dict[str, float]
) -> Outcome:
    """A pattern that nobody could audit to the end is none."""
    tried = (*attempts, Attempt(plan.engine.name, Result(FAILED)))
    return Outcome(task.problem.name, task.problem, tried, seconds=seconds, found=tuple(found))


def _assessed(
    outcome: Outcome,
    plan: Plan,
    protect: d.Block,
    request: ProtectRequest,
    watch: Watch,
    team: Team,
    deadline: Deadline,
) -> Outcome:
    """The experiments that the policy requires. They say how much an adjusted table hides, and never hold it back."""
    required, pattern = _experiments(protect, outcome.method), outcome.pattern
    if required is None or pattern is None or unfit(outcome.problem, pattern.value) is not None:
        return outcome
    experiments, options = required
    seconds = dict(outcome.seconds)
    watch.searching(outcome.name, "experiments", deadline)
    adjusting = cta.settings_of(outcome.problem, plan.options).of if outcome.method == "cta" else None
    with timed(seconds, "assess"):
        made = assess(
            outcome.problem,
            pattern.value,
            experiments,
            options,
            request.policy.seed or 0,
            deadline=deadline,
            made=adjusting,
            progress=lambda done, total: watch.assessing(outcome.name, done, total),
            team=team,
        )
    return replace(outcome, assessment=made, seconds=seconds)


def _experiments(protect: d.Block, method: str) -> tuple[tuple[str, ...], dict[str, Any]] | None:
    """Those that the policy requires of an adjusted table, and their options."""
    record = METHODS.get(method)
    return stated(protect) if record is not None and record.adjusts else None


def _searched_in_rounds(
    problem: TableProblem,
    plan: Plan,
    request: ProtectRequest,
    watch: Watch,
    team: Team,
    seconds: dict[str, float],
    held: list[Checkpointer],
    deadline: Deadline,
) -> SearchRound:
    """`held` gets where each search leaves what it knows."""
    watch.searching(problem.name, plan.engine.name, deadline)

    def search(
        problem: TableProblem, plan: Plan, checkpointer: Checkpointer, deadline: Deadline, incumbents: Incumbents
    ) -> Result:
        held.append(checkpointer)
        return _searched(problem, plan, request, watch, team, checkpointer, deadline, incumbents)

    def judge(
        problem: TableProblem, result: Result, plan: Plan, before: Audit | None
    ) -> tuple[Audit | None, list[Diagnostic]]:
        with timed(seconds, "audit"):
            return _audited(problem, result, plan, watch, team, before)

    assessed = _experiments(request.policy.protects[problem.name], plan.engine.name) is not None
    shares = Shares(deadline, problem, plan.engine.name, assessed)
    made = Rounds(problem, plan, request, shares, search, judge).run()
    if made.audit is None:
        return made
    return replace(made, result=replace(made.result, notes=(*made.result.notes, *late(deadline))))


def _searched(
    problem: TableProblem,
    plan: Plan,
    request: ProtectRequest,
    watch: Watch,
    team: Team,
    checkpointer: Checkpointer,
    deadline: Deadline,
    incumbents: Incumbents,
) -> Result:
    given_up = False

    def tell(progress: Progress) -> None:
        if not given_up:
            incumbents.bounded(progress.bound)
            watch.progressed(problem.name, progress)

    context = context_of(plan, request.policy.seed or 0, tell, team, checkpointer, deadline)
    context = replace(context, incumbents=incumbents)
    begun, allowed = perf_counter(), context.deadline.longest
    try:
        if context.deadline.limit is None:
            result = run(problem, plan.engine.name, context)
        else:
            patience = allowed * (1 + SHARE_OF_GRACE) + GRACE
            result = run_with_timeout(patience, lambda: run(problem, plan.engine.name, context))
    except TimedOut:
        passed = perf_counter() - begun
        said = f"the search had {round(allowed, 2):.3g} s, did not come back in {passed:.0f} s, and was given up"
        context.deadline.stop = given_up = True
        result = Result(FAILED, notes=(said,))
    except ClusterLost:
        raise
    except Exception as error:  # whatever a solver or somebody else's method raises
        result = Result(FAILED, notes=(described(error),))
    result = _with_incumbents(result, incumbents)
    if result.status in (OPTIMAL, FEASIBLE) and result.pattern is None:
        raise TypeError(f"method {plan.engine.name} says {result.status} and gives no pattern")
    # Methods of others may look at their time without saying so.
    timed = result.timed or context.deadline.time_dependent or (result.pattern is None and context.deadline.expired)
    return replace(result, timed=timed, seconds=result.seconds or {"search": perf_counter() - begun})


def _with_incumbents(result: Result, incumbents: Incumbents) -> Result:
    """A search that ended with nothing, by whatever went wrong, had perhaps a release in hand."""
    if result.pattern is not None or result.status == INFEASIBLE:
        return result
    best = next(incumbents.best_first(), None)
    return result if best is None else replace(best, notes=(*result.notes, *best.notes, LAST_IN_HAND))


def _audited(
    problem: TableProblem, result: Result, plan: Plan, watch: Watch, team: Team, before: Audit | None
) -> tuple[Audit | None, list[Diagnostic]]:
    """A pattern that says something wrong is not even attacked."""
    pattern = result.pattern
    assert pattern is not None
    broken = _broken(problem, pattern, plan.engine)
    if broken:
        return None, broken

    def progress(done: int, total: int) -> None:
        watch.auditing(problem.name, done, total)

    try:
        made = audit_release(
            problem, pattern, exact=False, progress=progress, team=team, before=before, hints=result.moves
        )
    except ClusterLost:
        raise
    except Exception as error:
        headline = f"the audit of `{problem.name}` could not be finished: nothing is released"
        return None, [diagnostic("SDC513", headline, plan.engine.span, notes=[described(error)])]
    return made, ([] if made.verdict in SAFE else [_exposed(made, plan.engine)])


def _broken(problem: TableProblem, pattern: Pattern, engine: d.Engine) -> list[Diagnostic]:
    """What every release promises, whatever an audit says: the truth is possible, `publish` and `suppress` are kept."""
    parts = (pattern.low, pattern.high, pattern.value, pattern.status)
    if any(np.shape(part) != (problem.n,) for part in parts):
        headline = f"method `{engine.name}` gave a release of `{problem.name}` with another number of cells"
        return [diagnostic("SDC513", headline, engine.span)]
    a, status = problem.dataset["a"].values, problem.dataset["status"].values
    published = problem.dataset["published"].values
    tolerance = 1e-9 * np.maximum(np.abs(a), 1.0)
    kinds = {
        **misstated(pattern),
        "with a true value that the release excludes": (a < pattern.low - tolerance) | (a > pattern.high + tolerance),
        "that must be published as they are, and are not": (status == "z") & (pattern.status != EXACT) & published,
        "that must be hidden, and are not": (status == "m") & (pattern.status != HIDDEN) & published,
    }
    out: list[Diagnostic] = []
    method = METHODS.get(engine.name)
    if not pattern.claims and method is not None and not method.traceable:
        headline = f"method `{engine.name}` says nothing about its changes, and readers know how it makes them"
        out.append(diagnostic("SDC513", headline, engine.span))
    for what, mask in kinds.items():
        at = np.flatnonzero(mask)
        if len(at):
            headline = f"method `{engine.name}` gave a release of `{problem.name}` with {cells(at)} {what}"
            out.append(diagnostic("SDC513", headline, engine.span, notes=[first_cells(at, problem.label)]))
    return out


def _exposed(made: Audit, engine: d.Engine) -> Diagnostic:
    pairs = np.flatnonzero(made.verdicts != "p")
    stated_pairs = made.proofs.problem.pairs
    cell, attacker = stated_pairs.cell[pairs], stated_pairs.attacker[pairs]

    def names(i: int) -> str:
        return f"{made.problem.label(int(cell[i]))} against {made.problem.attackers[int(attacker[i])]}"

    headline = f"the audit of `{made.problem.name}` says {made.verdict}: nothing is released"
    what = f"{len(pairs):,} of {len(made.verdicts):,} pairs of attacker and cell are not proven to be protected"
    notes = [what, first_cells(range(len(pairs)), names), *made.failures]
    record = METHODS.get(engine.name)
    if record is not None and record.model is None and record.accelerator is None:
        help = f"`{engine.name}` leaves it to the audit whether its releases protect: other options, or another method"
    else:
        help = "this should not happen: please report it, with the policy if you may"
    return diagnostic("SDC513", headline, engine.span, f"what `{engine.name}` found", notes=notes, help=help)


def _changes(problem: TableProblem, pattern: Pattern, plan: Plan) -> Changes | None:
    if plan.before is None:
        return None
    published = problem.dataset["published"].values
    now = (pattern.status != EXACT) & published
    newly, again = np.flatnonzero(now & ~plan.before), np.flatnonzero(~now & plan.before & published)
    return Changes(plan.previous, newly, again)


@contextmanager
def timed(seconds: dict[str, float], phase: str) -> Generator[None, None, None]:
    begun = perf_counter()
    try:
        yield
    finally:
        seconds[phase] = seconds.get(phase, 0.0) + perf_counter() - begun
