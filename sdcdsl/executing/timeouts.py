"""Work with a timeout. A solver that hangs in compiled code observes no limit, and a thread cannot be ended.

Such work runs in a thread of its own, which is abandoned at the timeout and lives until the process ends.
`has_abandoned_thread` says whether there is one: libraries must then not be unloaded, since the thread may still use
them.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")

ABANDONED = "abandoned"


class TimedOut(RuntimeError):
    """The work did not end in time."""


class BackgroundThread(Generic[T]):
    """Work in a thread of its own, started at once."""

    def __init__(self, work: Callable[[], T], name: str) -> None:
        self._results: list[T] = []
        self._errors: list[BaseException] = []

        def act() -> None:
            try:
                self._results.append(work())
            except BaseException as error:
                self._errors.append(error)

        self.thread = threading.Thread(target=act, daemon=True, name=name)
        self.thread.start()

    def ended(self, seconds: float) -> bool:
        """Whether the work has ended; waits for at most this many seconds."""
        self.thread.join(seconds)
        return not self.thread.is_alive()

    def result(self) -> T:
        """The result of work that has ended, or its exception."""
        if self._errors:
            raise self._errors[0]
        return self._results[0]


def run_with_timeout(seconds: float, work: Callable[[], T]) -> T:
    """The result of the work, or its exception; `TimedOut` if there is neither in time."""
    background = BackgroundThread(work, "run with timeout")
    if not background.ended(seconds):
        background.thread.name = ABANDONED
        raise TimedOut(f"no answer within {seconds:g} s")
    return background.result()


def has_abandoned_thread() -> bool:
    return any(thread.name == ABANDONED for thread in threading.enumerate())
