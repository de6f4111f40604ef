"""Work that may not come back: a solver that hangs in compiled code hears of no limit, and a thread cannot be ended.

It is done in a thread of its own, therefore, and given up when it is long overdue. The thread stays behind until the
process ends; `left_behind` says whether there is one, since libraries must not be tidied up under its feet.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

NAME = "left behind"


class Overdue(RuntimeError):
    """Nobody waits for it any more."""


def within(seconds: float, work: Callable[[], T]) -> T:
    """What the work gives or raises; raises `Overdue` if it does neither in time."""
    done: list[T] = []
    failed: list[BaseException] = []

    def act() -> None:
        try:
            done.append(work())
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=act, daemon=True, name="within")
    thread.start()
    thread.join(seconds)
    if thread.is_alive():
        thread.name = NAME
        raise Overdue(f"no answer within {seconds:g} s")
    if failed:
        raise failed[0]
    return done[0]


def left_behind() -> bool:
    return any(thread.name == NAME for thread in threading.enumerate())
