"""Work that may not come back: a solver that hangs in compiled code hears of no limit, and a thread cannot be ended.

It is done in a thread of its own, therefore, and given up when it is long overdue. The thread stays behind until the
process ends; `left_behind` says whether there is one, since libraries must not be tidied up under its feet.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")

NAME = "left behind"


class Overdue(RuntimeError):
    """Nobody waits for it any more."""


class Aside(Generic[T]):
    """Work in a thread of its own, from now on."""

    def __init__(self, work: Callable[[], T], name: str) -> None:
        self._done: list[T] = []
        self._failed: list[BaseException] = []

        def act() -> None:
            try:
                self._done.append(work())
            except BaseException as error:
                self._failed.append(error)

        self.thread = threading.Thread(target=act, daemon=True, name=name)
        self.thread.start()

    def ended(self, seconds: float) -> bool:
        """Whether it is over, after waiting so long if need be."""
        self.thread.join(seconds)
        return not self.thread.is_alive()

    def result(self) -> T:
        """What it gave or raised; of work that has ended."""
        if self._failed:
            raise self._failed[0]
        return self._done[0]


def within(seconds: float, work: Callable[[], T]) -> T:
    """What the work gives or raises; raises `Overdue` if it does neither in time."""
    aside = Aside(work, "within")
    if not aside.ended(seconds):
        aside.thread.name = NAME
        raise Overdue(f"no answer within {seconds:g} s")
    return aside.result()


def left_behind() -> bool:
    return any(thread.name == NAME for thread in threading.enumerate())
