"""Work that may not come back: its answer, its error, or nothing, and then nobody waits."""

from __future__ import annotations

import threading

import pytest

from sdcdsl.executing import overdue
from sdcdsl.executing.overdue import Overdue, left_behind, within
from tests.waiting import HANGS


def test_what_it_gives_and_what_it_raises():
    assert within(60.0, lambda: 7) == 7
    with pytest.raises(ZeroDivisionError):
        within(60.0, lambda: 1 // 0)
    assert not left_behind()


def test_nobody_waits_for_ever():
    go_on = threading.Event()
    with pytest.raises(Overdue):
        within(0.05, go_on.wait)
    assert left_behind()
    go_on.set()
    for thread in threading.enumerate():
        if thread.name == overdue.NAME:
            thread.join(HANGS)
    assert not left_behind()
