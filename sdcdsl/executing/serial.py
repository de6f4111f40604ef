"""One task after another, by who asks."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from sdcdsl.executing.team import Team, opened


class Serial(Team):
    def submit(self, work: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future:
        future: Future = Future()
        future.set_running_or_notify_cancel()
        try:
            future.set_result(work(*opened(args), **kwargs))
        except BaseException as error:
            future.set_exception(error)
        return future


SERIAL = Serial()
