"""Work with a timeout: its result, its exception, or `TimedOut`."""

from __future__ import annotations

import threading

import pytest

from sdcdsl.executing.timeouts import ABANDONED, TimedOut, has_abandoned_thread, run_with_timeout
from tests.waiting import HANGS


def test_what_it_gives_and_what_it_raises():
    assert run_with_timeout(60.0, lambda: 7) == 7
    with pytest.raises(ZeroDivisionError):
        run_with_timeout(60.0, lambda: 1 // 0)
    assert not has_abandoned_thread()


def test_work_that_hangs_is_abandoned():
    go_on = threading.Event()
    with pytest.raises(TimedOut):
        run_with_timeout(0.05, go_on.wait)
    assert has_abandoned_thread()
    go_on.set()
    for thread in threading.enumerate():
        if thread.name == ABANDONED:
            thread.join(HANGS)
    assert not has_abandoned_thread()
