"""Bind, search, audit: everything up to the point where files may be written."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any

import numpy as np

from sdcdsl.audit import Audit, audit
from sdcdsl.bind.known_codes import unknown_codes
from sdcdsl.bind.naming import cells, first_cells
from sdcdsl.bind.problem import TableProblem
from sdcdsl.bind.protect import bind_protect
from sdcdsl.bind.tables import Binding
from sdcdsl.diagnostics import Diagnostic, diagnostic, has_errors
from sdcdsl.methods.cta import asked as cta
from sdcdsl.methods.result import FEASIBLE, OPTIMAL, Clock, Result
from sdcdsl.methods.run import available, run
from sdcdsl.pattern import Pattern
from sdcdsl.pattern.pattern import EXACT, HIDDEN
from sdcdsl.pipeline.beforehand import not_available, refused
from sdcdsl.pipeline.conflicts import nothing_found
from sdcdsl.pipeline.ordering import Plan, order_of, plan_of
from sdcdsl.pipeline.outcome import SAFE, Attempt, Changes, End, Outcome, Prepared
from sdcdsl.pipeline.request import Request, Watch
from sdcdsl.policy import document as d
from sdcdsl.risk import assess, stated, unfit
from sdcdsl.utility import measure
from sdcdsl.vocabulary.plugins import find_method


def prepare(request: Request, watch: Watch | None = None) -> Prepared:
    """Every block bound, protected and audited. Nothing is searched if something is wrong with one of them."""
    watch = watch or Watch()
    found, wrong = refused(request)
    if wrong is not None:
        return Prepared(found=tuple(found), wrong=wrong)
    tasks, found = _bound(request)
    if has_errors(found):
        return Prepared(found=tuple(found), wrong=End.WRONG_DATA)
    outcomes: list[Outcome] = []
    for task in tasks:
        outcome = _protected(task, request, watch)
        outcomes.append(outcome)
        if outcome.end is not End.DONE:
            break  # nothing will be released: the other blocks need not be searched
    return Prepared(tuple(outcomes), tuple(found))


# ---- bind -------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Task:
    problem: TableProblem
    plans: tuple[Plan, ...]  # one for each method of the chain
    seconds: dict[str, float] = field(default_factory=dict)


def _bound(request: Request) -> tuple[list[_Task], list[Diagnostic]]:
    binding = Binding(request.policy, request.places, request.day)
    tasks: list[_Task] = []
    found: list[Diagnostic] = []
    for name in request.blocks:
        protect, seconds = request.policy.protects[name], {}
        with _timed(seconds, "bind"):
            problem, problems = bind_protect(binding, protect)
            found += problems
            if problem is None:
                continue
            plans = []
            for engine in protect.the(d.MethodChain).engines:
                plan, problems = plan_of(engine, protect, problem, request)
                found += problems
                plans.append(plan)
        tasks.append(_Task(problem, tuple(plans), seconds))
    found += unknown_codes(request.policy, binding.dimensions)
    return tasks, list(dict.fromkeys(binding.diagnostics + found))


# ---- search and audit -------------------------------------------------------------------------------


def _protected(task: _Task, request: Request, watch: Watch) -> Outcome:
    attempts: list[Attempt] = []
    found: list[Diagnostic] = []
    seconds = dict(task.seconds)
    protect = request.policy.protects[task.problem.name]
    for plan in task.plans:
        if not available(plan.engine.name):
            found.append(not_available(plan.engine))
            break
        result = _searched(task.problem, plan, request, watch)
        attempts.append(Attempt(plan.engine.name, result))
        for phase, passed in result.seconds.items():
            seconds[phase] = seconds.get(phase, 0.0) + passed
        if result.status in (OPTIMAL, FEASIBLE) and result.pattern is not None:
            with _timed(seconds, "audit"):
                judged, wrong = _audited(task.problem, result.pattern, plan, watch)
            outcome = Outcome(
                task.problem.name,
                task.problem,
                tuple(attempts),
                judged,
                _changes(task.problem, result.pattern, plan),
                measure(task.problem, result.pattern),
                seconds=seconds,
                found=tuple(wrong),
            )
            return _assessed(outcome, plan, protect, request, watch) if outcome.end is End.DONE else outcome
        found += nothing_found(task.problem, protect, plan, result, request.policy)
        if watch.stopped:
            break
    return Outcome(task.problem.name, task.problem, tuple(attempts), seconds=seconds, found=tuple(found))


def _assessed(outcome: Outcome, plan: Plan, protect: d.Block, request: Request, watch: Watch) -> Outcome:
    """The experiments that the policy asks for. They say how much an adjusted table hides, and never hold it back."""
    asked, pattern = stated(protect), outcome.pattern
    method = find_method(outcome.method)
    if asked is None or pattern is None or method is None or not method.adjusts:
        return outcome
    if unfit(outcome.problem, pattern.value) is not None:
        return outcome
    experiments, options = asked
    seconds = dict(outcome.seconds)
    clock = Clock(plan.options.get("time_limit"))  # as much as the search had
    watch.searching(outcome.name, "experiments", clock)
    adjusting = cta.asked(outcome.problem, plan.options).of if outcome.method == "cta" else None
    with _timed(seconds, "assess"):
        made = assess(
            outcome.problem,
            pattern.value,
            experiments,
            options,
            request.policy.seed or 0,
            clock=clock,
            made=adjusting,
            progress=lambda done, total: watch.assessing(outcome.name, done, total),
        )
    return replace(outcome, assessment=made, seconds=seconds)


def _searched(problem: TableProblem, plan: Plan, request: Request, watch: Watch) -> Result:
    order = order_of(plan, request.policy.seed or 0, watch.standing)
    watch.searching(problem.name, plan.engine.name, order.clock)
    begun = perf_counter()
    result = run(problem, plan.engine.name, order)
    if result.status in (OPTIMAL, FEASIBLE) and result.pattern is None:
        raise TypeError(f"method {plan.engine.name} says {result.status} and gives no pattern")
    return result if result.seconds else replace(result, seconds={"search": perf_counter() - begun})


def _audited(
    problem: TableProblem, pattern: Pattern, plan: Plan, watch: Watch
) -> tuple[Audit | None, list[Diagnostic]]:
    """A pattern that says something wrong is not even attacked."""
    broken = _broken(problem, pattern, plan.engine)
    if broken:
        return None, broken
    options: dict[str, Any] = {"exact": False, "progress": lambda *so_far: watch.auditing(problem.name, *so_far)}
    if (plan.options.get("threads") or 1) > 1:
        with ThreadPoolExecutor(plan.options["threads"]) as executor:
            made = audit(problem, pattern, executor=executor, **options)
    else:
        made = audit(problem, pattern, **options)
    return made, ([] if made.verdict in SAFE else [_exposed(made, plan.engine)])


def _broken(problem: TableProblem, pattern: Pattern, engine: d.Engine) -> list[Diagnostic]:
    """What every release promises, whatever an audit says: the truth is possible, `publish` and `suppress` are kept."""
    a, status = problem.dataset["a"].values, problem.dataset["status"].values
    published = problem.dataset["published"].values
    room = 1e-9 * np.maximum(np.abs(a), 1.0)
    kinds = {
        "with a true value that the release excludes": (a < pattern.low - room) | (a > pattern.high + room),
        "that must be published as they are, and are not": (status == "z") & (pattern.status != EXACT) & published,
        "that must be hidden, and are not": (status == "m") & (pattern.status != HIDDEN) & published,
    }
    out = []
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
def _timed(seconds: dict[str, float], phase: str) -> Iterator[None]:
    begun = perf_counter()
    try:
        yield
    finally:
        seconds[phase] = seconds.get(phase, 0.0) + perf_counter() - begun
