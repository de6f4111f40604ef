"""Many tasks of one kind: their results in the order of the tasks, whoever did them and whenever they were done."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, TimeoutError
from threading import Lock
from time import monotonic
from typing import Any, TypeVar

from sdcdsl.executing.team import Team, opened

T = TypeVar("T")

LOOK = 0.1  # seconds between two looks whether the time is over


def in_order(
    team: Team,
    work: Callable[..., T],
    tasks: Sequence[tuple[Any, ...]],
    *,
    over: Callable[[], bool] = lambda: False,
    done: Callable[[int], None] = lambda task: None,
) -> Iterator[T]:
    """`work(*task)` of every task. Once it is `over` nothing more is begun and nothing waited for. `done` is told the
    number of every task that has ended, in the order in which they end."""
    begun = monotonic()
    here = 0
    while here < len(tasks) and monotonic() - begun < team.patience:
        if over():
            return
        result = work(*opened(tasks[here]))
        done(here)
        yield result
        here += 1
    if here < len(tasks) and not over():
        yield from _by_team(team, work, tasks, here, over, done)


def _by_team(
    team: Team,
    work: Callable[..., T],
    tasks: Sequence[tuple[Any, ...]],
    first: int,
    over: Callable[[], bool],
    done: Callable[[int], None],
) -> Iterator[T]:
    lock = Lock()

    def ended(number: int, future: Future) -> None:
        if not future.cancelled() and future.exception() is None:
            with lock:
                done(number)

    futures = [team.submit(work, *task) for task in tasks[first:]]
    for number, future in enumerate(futures, first):
        future.add_done_callback(lambda made, number=number: ended(number, made))
    try:
        for future in futures:
            while True:
                try:
                    result = future.result(LOOK)
                    break
                except TimeoutError:
                    if future.done():  # the task itself ran out of some time
                        raise
                if over():
                    return
            yield result
    finally:
        for future in futures:
            future.cancel()


class Tally:
    """How far all tasks together are, from what each of them says of itself while it runs: counts that only grow."""

    def __init__(self, sizes: Sequence[int], progress: Callable[[int, int], None] | None):
        self._sizes, self._progress = sizes, progress
        self._so_far = [0] * len(sizes)
        self._lock = Lock()

    def of(self, task: int) -> Callable[[int], None]:
        """What one task tells its count to."""
        return lambda count: self._now(task, min(count, self._sizes[task]))

    def done(self, task: int) -> None:
        self._now(task, self._sizes[task])

    def _now(self, task: int, count: int) -> None:
        with self._lock:
            if count > self._so_far[task] or not self._sizes[task]:
                self._so_far[task] = count
                if self._progress is not None:
                    self._progress(sum(self._so_far), sum(self._sizes))
