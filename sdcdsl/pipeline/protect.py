"""Bind, then search and audit every block: everything up to the point where files may be written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from dataclasses import dataclass, replace

from sdcdsl.bind.known_codes import unknown_codes
from sdcdsl.bind.problem import TableProblem
from sdcdsl.bind.protect import bind_protect
from sdcdsl.bind.tables import Binding
from sdcdsl.deadline import Deadline
from sdcdsl.diagnostics import Diagnostic, has_errors
from sdcdsl.executing import SERIAL, Channel, Team, Threads, WorkerLost
from sdcdsl.methods.result import Progress
from sdcdsl.outcome import End, Outcome, Prepared
from sdcdsl.pipeline.method_plan import plan_of
from sdcdsl.pipeline.preflight import refused
from sdcdsl.pipeline.release import settled
from sdcdsl.pipeline.remote_progress import ProgressReceiver, ProgressSender
from sdcdsl.pipeline.request import Request, Watch
from sdcdsl.pipeline.search import Task, lost, protected, timed
from sdcdsl.pipeline.shared_cells import Said, contradicting, published_elsewhere
from sdcdsl.policy import document as d

WORTH = 1500  # cells, all but the largest block together, from which other processes are worth their start


@dataclass(frozen=True, eq=False)
class Bound:
    """Every block with its data, or what is wrong with one of them."""

    tasks: tuple[Task, ...] = ()
    found: tuple[Diagnostic, ...] = ()
    wrong: End | None = None


Known = Mapping[str, tuple[TableProblem | None, list[Diagnostic]]]  # by block: what `bind_protect` gave


def prepare(request: Request, watch: Watch | None = None, team: Team | None = None) -> Prepared:
    """Every block bound, protected and audited. Nothing is searched if something is wrong with one of them. Without a
    `team` blocks run in threads side by side."""
    return search(bind(request, watch), request, watch, team)


def bind(request: Request, watch: Watch | None = None, known: Known | None = None) -> Bound:
    """What reads files. `known`: blocks that were bound before, for the same data and levels."""
    interrupted = settled(request)
    if has_errors(interrupted):
        return Bound(found=tuple(interrupted), wrong=End.WRONG_DATA)
    found, wrong = refused(request)
    if wrong is not None:
        return Bound(found=(*interrupted, *found), wrong=wrong)
    tasks, found = _bound(request, watch or Watch(), known or {})
    found = [*published_elsewhere(request), *found]
    if has_errors(found):
        return Bound(found=(*interrupted, *found), wrong=End.WRONG_DATA)
    request.places.digest()
    return Bound(tuple(tasks), (*interrupted, *found))


def search(bound: Bound, request: Request, watch: Watch | None = None, team: Team | None = None) -> Prepared:
    """What takes long, and reads nothing more."""
    if bound.wrong is not None:
        return Prepared(found=bound.found, wrong=bound.wrong)
    if team is None and request.side_by_side > 1:
        with Threads(request.side_by_side) as threads:
            return search(bound, request, watch, threads)
    outcomes = tuple(_outcomes(bound.tasks, request, watch or Watch(), team or SERIAL))
    protects = request.policy.protects
    said = [
        Said(o.name, o.problem, o.pattern)
        for o in outcomes
        if o.end is End.DONE and o.pattern is not None and protects[o.name].all(d.Release)
    ]
    if different := contradicting(request.policy, said):
        return Prepared(outcomes, (*bound.found, *different), End.EXPOSED)
    return Prepared(outcomes, bound.found)


def _bound(request: Request, watch: Watch, known: Known) -> tuple[list[Task], list[Diagnostic]]:
    binding = Binding(request.policy, request.places, request.day)
    tasks: list[Task] = []
    found: list[Diagnostic] = []
    for name in request.blocks:
        protect, seconds = request.policy.protects[name], {}
        with timed(seconds, "bind"):
            problem, problems = known[name] if name in known else bind_protect(binding, protect)
            found += problems
            if problem is None:
                continue
            plans = []
            for engine in protect.the(d.MethodChain).engines:
                plan, problems = plan_of(engine, protect, problem, request)
                found += problems
                plans.append(plan)
        watch.bound(problem)
        tasks.append(Task(problem, tuple(plans), seconds))
    found += unknown_codes(request.policy, binding.dimensions)
    return tasks, list(dict.fromkeys(binding.diagnostics + found))


# ---- one after another, or side by side ------------------------------------------------------------


def _outcomes(tasks: Sequence[Task], request: Request, watch: Watch, team: Team) -> Iterator[Outcome]:
    """Of every block that was begun. Once one of them leaves nothing to release, the others need not go on.

    One block at a time may ask the team for parts of its work; blocks side by side each have a worker of their own, and
    ask nobody.
    """
    together = _Together(watch)
    if min(len(tasks), team.width) == 1:
        for task in tasks:
            if not together.hopeless:
                yield together.protected(task, request, team)
    elif team.apart and (team.patience == 0 or _worth_it(tasks)):
        yield from together.apart(tasks, request, team)
    elif not team.apart:
        yield from together.here(tasks, request, team)
    else:
        with Threads(min(len(tasks), team.width)) as threads:
            yield from together.here(tasks, request, threads)


def _worth_it(tasks: Sequence[Task]) -> bool:
    return sum(sorted(task.problem.n for task in tasks)[:-1]) >= WORTH


def protected_apart(task: Task, request: Request, line: Channel) -> Outcome:
    """A block in another process."""
    return protected(task, request, ProgressSender(line))


class _Together(Watch):
    """Passes on what goes on, and ends all searches when one block is found to leave nothing to release."""

    def __init__(self, watch: Watch):
        self._watch = watch
        self._clocks: dict[str, Deadline] = {}
        self.hopeless = False

    def here(self, tasks: Sequence[Task], request: Request, threads: Team) -> Iterator[Outcome]:
        """Threads are enough where little is to be done: solvers and compiled code let others run."""
        started = [threads.submit(self.protected_unless_hopeless, task, request) for task in tasks]
        for future in started:
            if (outcome := future.result()) is not None:
                yield outcome

    def apart(self, tasks: Sequence[Task], request: Request, team: Team) -> Iterator[Outcome]:
        shared = team.share(request if team.near else replace(request, checkpoints=None))
        futures = [
            team.submit(protected_apart, task, shared, ProgressReceiver(task.problem.name, self).line) for task in tasks
        ]
        for future in futures:
            future.add_done_callback(lambda made: self._noted(made, futures))
        for task, future in zip(tasks, futures, strict=True):
            with suppress(CancelledError):  # nobody waits for it any more
                try:
                    yield self._with_stop(future.result())
                except WorkerLost as error:
                    yield self._ended(lost(task, request, error))

    def _noted(self, future: Future, others: list[Future]) -> None:
        if future.cancelled() or future.exception() is not None:
            return
        self._ended(future.result())
        if self.hopeless:
            for other in others:
                other.cancel()

    def protected(self, task: Task, request: Request, team: Team = SERIAL) -> Outcome:
        return self._ended(protected(task, request, self, team))

    def _with_stop(self, outcome: Outcome) -> Outcome:
        """Searches know that they were to end, but not whether somebody wanted it or nothing could be released."""
        return replace(outcome, stopped=self._watch.stopped(outcome.name))

    def _ended(self, outcome: Outcome) -> Outcome:
        outcome = self._with_stop(outcome)
        self._watch.ended(outcome.name, str(outcome.end.name).lower())
        if outcome.end is not End.DONE:
            self.hopeless = True
            for deadline in list(self._clocks.values()):
                deadline.stop = True
        return outcome

    def protected_unless_hopeless(self, task: Task, request: Request) -> Outcome | None:
        return None if self.hopeless else self.protected(task, request)

    def searching(self, block: str, method: str, deadline: Deadline) -> None:
        self._clocks[block] = deadline
        deadline.stop = deadline.stop or self.hopeless
        self._watch.searching(block, method, deadline)

    def standing(self, block: str, standing: Progress) -> None:
        self._watch.standing(block, standing)

    def auditing(self, block: str, done: int, total: int) -> None:
        self._watch.auditing(block, done, total)

    def assessing(self, block: str, done: int, total: int) -> None:
        self._watch.assessing(block, done, total)

    def bound(self, problem: TableProblem) -> None:
        self._watch.bound(problem)

    def stopped(self, block: str) -> bool:
        return self.hopeless or self._watch.stopped(block)
