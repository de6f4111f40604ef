"""Tasks in threads of this process: for work that is mostly solvers and compiled code, and too short for processes."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from sdcdsl.executing.team import Team, opened


class Threads(Team):
    patience = 0.0

    def __init__(self, width: int) -> None:
        self.width = width
        self._pool = ThreadPoolExecutor(width, thread_name_prefix="team")

    def submit(self, work: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future:
        return self._pool.submit(work, *opened(args), **kwargs)

    def __exit__(self, *error: object) -> None:
        """A thread cannot be ended from outside."""
        self.shutdown()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self._pool.shutdown(wait, cancel_futures=cancel_futures)
