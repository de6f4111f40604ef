"""How far a solver may go, in words that no solver owns. Each backend turns them into its own options, once."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class SolveLimits:
    time: float | None = None  # seconds on the wall
    gap: float = 0.0  # a solution this close to the best, as a share of its objective, is good enough
    threads: int | None = None  # None: as the solver likes
    seed: int = 0

    def with_time(self, seconds: float) -> SolveLimits:
        """The same with what is left of the time."""
        return SolveLimits(None if seconds == float("inf") else max(seconds, 0.0), self.gap, self.threads, self.seed)
