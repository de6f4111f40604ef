"""How long tests wait for what is sure to come. Machines may be busy: only what hangs is given up, after minutes."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

from sdcdsl.deadline import Deadline

HANGS = 900.0  # seconds


def until(holds: Callable[[], Any], pause: float = 0.02) -> Any:
    """Waits until something holds, and gives it."""
    end = time.monotonic() + HANGS
    while not (found := holds()):
        assert time.monotonic() < end, "it hangs"
        time.sleep(pause)
    return found


def calls(work: Callable[[], Any]) -> int:
    """How many functions some work calls: what it takes, whatever else the machine does."""
    count = 0

    def note(frame: Any, event: str, arg: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


class Looks(Deadline):
    """Time that passes by looking at it, a millisecond a look: what it ends depends on the work done, not on the
    machine."""

    looks = 0

    @property
    def elapsed(self) -> float:
        self.looks += 1
        return 1e-3 * self.looks
