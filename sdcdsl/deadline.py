"""The time that is left: one object that search, audit and writing share."""

from __future__ import annotations

from time import monotonic
from typing import Any


class Deadline:
    """The time that is left, in seconds on the wall; `stop` may end the work from outside (Ctrl-C once).
    `time_dependent`: a decision was taken by looking at the time, so that another machine may take another."""

    def __init__(self, limit: float | None = None):
        self.started = monotonic()
        self.limit = limit
        self.stop = False
        self.time_dependent = False

    @property
    def elapsed(self) -> float:
        return monotonic() - self.started

    @property
    def remaining(self) -> float:
        if self.stop:
            return 0.0
        return float("inf") if self.limit is None else max(self.limit - self.elapsed, 0.0)

    @property
    def longest(self) -> float:
        """Seconds that are left if nothing is found."""
        return self.remaining

    @property
    def expired(self) -> bool:
        expired = self.remaining <= 0.0
        self.mark_time_dependent(expired)
        return expired

    def mark_time_dependent(self, decided: bool = True) -> None:
        """A decision was taken by looking at the time."""
        self.time_dependent |= decided

    def __reduce__(self) -> tuple[Any, ...]:
        """In another process it goes on with the time that remains; `stop` does not reach it there."""
        return Deadline, (None if self.remaining == float("inf") else self.remaining,)

    def within(self, seconds: float) -> Deadline:
        """A deadline for a part of the work: after so many seconds, and never later than this one."""
        return _Part(self, seconds)

    def until_found(self, seconds: float) -> UntilFound:
        """For work that may end after so many seconds, but not before it has found something."""
        return UntilFound(self, seconds)


class _Part(Deadline):
    """Counts as the whole counts, on the wall or by another measure."""

    def __init__(self, whole: Deadline, limit: float):
        super().__init__(limit)
        self._whole, self._begun = whole, whole.elapsed

    @property
    def elapsed(self) -> float:
        return self._whole.elapsed - self._begun

    @property
    def remaining(self) -> float:
        return min(super().remaining, self._whole.remaining)

    def mark_time_dependent(self, decided: bool = True) -> None:
        super().mark_time_dependent(decided)
        self._whole.mark_time_dependent(decided)


class UntilFound(_Part):
    """A part of the work that goes on as long as the whole while nothing is found."""

    found = False

    def shorten(self, least: float, times: float) -> None:
        """Something is found: the end is so many times as far as that took, and so many seconds at least."""
        self.found = True
        if self.limit is not None:
            self.limit = min(self.limit, max(least, times * self.elapsed))

    def go_on(self) -> None:
        """Something is found, and there is nothing better to do with the time than to go on."""
        self.found, self.limit = True, None

    @property
    def remaining(self) -> float:
        if self.found or self.stop or self.limit is None or self.elapsed < self.limit:
            return super().remaining
        return self._whole.remaining

    @property
    def longest(self) -> float:
        return self._whole.longest
