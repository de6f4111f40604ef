"""Bind, then search and audit every block: everything up to the point where files may be written."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from dataclasses import dataclass, replace
from time import perf_counter

from sdcdsl.bind.problem import TableProblem
from sdcdsl.deadline import Deadline
from sdcdsl.diagnostics import Diagnostic, has_errors
from sdcdsl.executing import SERIAL, Channel, Team, Threads, WorkerLost
from sdcdsl.methods.result import Progress
from sdcdsl.outcome import End, Outcome, Prepared
from sdcdsl.pipeline.bind import bind_blocks
from sdcdsl.pipeline.method_plan import Plan, plan_of
from sdcdsl.pipeline.preflight import refused
from sdcdsl.pipeline.release import settled
from sdcdsl.pipeline.remote_progress import ProgressReceiver, ProgressSender
from sdcdsl.pipeline.request import ProtectRequest, Watch
from sdcdsl.pipeline.search import BlockTask, lost, protected
from sdcdsl.pipeline.shared_cells import BlockRelease, contradicting, published_elsewhere
from sdcdsl.policy import document as d

WORTH = 1500  # cells, all but the largest block together, from which other processes are worth their start


Preparing = Callable[[ProtectRequest], Prepared]  # `prepare`, or what shows somebody how it goes on


@dataclass(frozen=True, eq=False)
class BlockTasks:
    """Every block with its data and the plans of its methods, or what is wrong with one of them."""

    tasks: tuple[BlockTask, ...] = ()
    found: tuple[Diagnostic, ...] = ()
    wrong: End | None = None


def prepare(request: ProtectRequest, watch: Watch | None = None, team: Team | None = None) -> Prepared:
    """Every block bound, protected and audited. Nothing is searched if something is wrong with one of them. Without a
    `team` blocks run in threads side by side."""
    return search(planned(request, watch), request, watch, team)


def planned(
    request: ProtectRequest, watch: Watch | None = None, known: Mapping[str, TableProblem] | None = None
) -> BlockTasks:
    """What reads files: every block is bound, and its methods have their options. `known`: see `bind_blocks`."""
    interrupted = settled(request)
    if has_errors(interrupted):
        return BlockTasks(found=tuple(interrupted), wrong=End.WRONG_DATA)
    found, wrong = refused(request)
    if wrong is not None:
        return BlockTasks(found=(*interrupted, *found), wrong=wrong)
    tasks, found = _planned(request, watch, known)
    found = [*published_elsewhere(request), *found]
    if has_errors(found):
        return BlockTasks(found=(*interrupted, *found), wrong=End.WRONG_DATA)
    request.places.digest()
    return BlockTasks(tuple(tasks), (*interrupted, *found))


def search(
    tasks: BlockTasks, request: ProtectRequest, watch: Watch | None = None, team: Team | None = None
) -> Prepared:
    """What takes long, and reads nothing more."""
    if tasks.wrong is not None:
        return Prepared(found=tasks.found, wrong=tasks.wrong)
    if team is None and request.side_by_side > 1:
        with Threads(request.side_by_side) as threads:
            return search(tasks, request, watch, threads)
    outcomes = tuple(_outcomes(tasks.tasks, request, watch or Watch(), team or SERIAL))
    protects = request.policy.protects
    said = [
        BlockRelease(o.name, o.problem, o.pattern)
        for o in outcomes
        if o.end is End.DONE and o.pattern is not None and protects[o.name].all(d.Release)
    ]
    if different := contradicting(request.policy, said):
        return Prepared(outcomes, (*tasks.found, *different), End.EXPOSED)
    return Prepared(outcomes, tasks.found)


def _planned(
    request: ProtectRequest, watch: Watch | None, known: Mapping[str, TableProblem] | None
) -> tuple[list[BlockTask], list[Diagnostic]]:
    bound = bind_blocks(request, watch, known)
    tasks: list[BlockTask] = []
    found = list(bound.found)
    for name, problem in bound.problems.items():
        begun, plans = perf_counter(), list[Plan]()
        protect = request.policy.protects[name]
        for engine in protect.the(d.MethodChain).engines:
            plan, problems = plan_of(engine, protect, problem, request)
            found += problems
            plans.append(plan)
        seconds = bound.seconds.get(name, 0.0) + perf_counter() - begun
        tasks.append(BlockTask(problem, tuple(plans), {"bind": seconds}))
    return tasks, list(dict.fromkeys(found))


# ---- one after another, or side by side ------------------------------------------------------------


def _outcomes(tasks: Sequence[BlockTask], request: ProtectRequest, watch: Watch, team: Team) -> Iterator[Outcome]:
    """Of every block that was begun. Once one of them leaves nothing to release, the others need not go on.

    One block at a time may ask the team for parts of its work; blocks side by side each have a worker of their own, and
    ask nobody.
    """
    together = _SharedWatch(watch)
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


def _worth_it(tasks: Sequence[BlockTask]) -> bool:
    return sum(sorted(task.problem.n for task in tasks)[:-1]) >= WORTH


def protected_apart(task: BlockTask, request: ProtectRequest, line: Channel) -> Outcome:
    """A block in another process."""
    return protected(task, request, ProgressSender(line))


class _SharedWatch(Watch):
    """Passes on what goes on, and ends all searches when one block is found to leave nothing to release."""

    def __init__(self, watch: Watch):
        self._watch = watch
        self._clocks: dict[str, Deadline] = {}
        self.hopeless = False

    def here(self, tasks: Sequence[BlockTask], request: ProtectRequest, threads: Team) -> Iterator[Outcome]:
        """Threads are enough where little is to be done: solvers and compiled code let others run."""
        started = [threads.submit(self.protected_unless_hopeless, task, request) for task in tasks]
        for future in started:
            if (outcome := future.result()) is not None:
                yield outcome

    def apart(self, tasks: Sequence[BlockTask], request: ProtectRequest, team: Team) -> Iterator[Outcome]:
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

    def _noted(self, future: Future[Outcome], others: list[Future[Outcome]]) -> None:
        if future.cancelled() or future.exception() is not None:
            return
        self._ended(future.result())
        if self.hopeless:
            for other in others:
                other.cancel()

    def protected(self, task: BlockTask, request: ProtectRequest, team: Team = SERIAL) -> Outcome:
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

    def protected_unless_hopeless(self, task: BlockTask, request: ProtectRequest) -> Outcome | None:
        return None if self.hopeless else self.protected(task, request)

    def searching(self, block: str, method: str, deadline: Deadline) -> None:
        self._clocks[block] = deadline
        deadline.stop = deadline.stop or self.hopeless
        self._watch.searching(block, method, deadline)

    def progressed(self, block: str, progress: Progress) -> None:
        self._watch.progressed(block, progress)

    def auditing(self, block: str, done: int, total: int) -> None:
        self._watch.auditing(block, done, total)

    def assessing(self, block: str, done: int, total: int) -> None:
        self._watch.assessing(block, done, total)

    def bound(self, problem: TableProblem) -> None:
        self._watch.bound(problem)

    def stopped(self, block: str) -> bool:
        return self.hopeless or self._watch.stopped(block)
