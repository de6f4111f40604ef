"""Runs of a comparison side by side, each in a process of its own, and what somebody sees of it.

A run that nobody can finish (a solver that crashes, no memory left) takes nothing else with it. Ctrl-C ends all that is
under way; what is there is kept.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import traceback
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from time import monotonic
from typing import Any

from sdcdsl.cli.protect_display import Display, told
from sdcdsl.deadline import Deadline
from sdcdsl.executing import ClusterLost, Team, WorkerLost
from sdcdsl.methods.result import Progress
from sdcdsl.pipeline.compare import STOPPED, Row, Run, compared, handed_over, not_made
from sdcdsl.pipeline.remote_progress import ProgressReceiver
from sdcdsl.pipeline.request import Watch
from sdcdsl.status import FAILED

LOOK = 0.1  # seconds between two looks at the display


class _Standing(Watch):
    """Where one run stands, in words."""

    said: str | None = None  # None: it has not begun

    def searching(self, block: str, method: str, deadline: Deadline) -> None:
        self.said = "searching"

    def standing(self, block: str, standing: Progress) -> None:
        self.said = ", ".join(told(standing))

    def auditing(self, block: str, done: int, total: int) -> None:
        self.said = f"audit, {done} of {total} pairs"


class Comparing:
    """Makes all runs; rows come in the order of the runs, whatever order they end in."""

    def __init__(self, team: Team, display: Display) -> None:
        self._team, self._display = team, display
        self._rows: dict[int, Row] = {}
        self.stopped = False

    def run(self, runs: Sequence[Run]) -> list[Row]:
        begun = monotonic()
        watches = [_Standing() for _ in runs]
        with self._listening(), self._display as display:
            asked = handed_over(runs, self._team)
            futures: dict[Future[Row], int] = {}
            for i, (run, task) in enumerate(zip(runs, asked, strict=True)):
                line = ProgressReceiver(run.name, watches[i]).line
                futures[self._team.submit(compared, *task, line)] = i
            left = set(futures)
            while left and not self.stopped:
                ended, left = wait(left, LOOK, FIRST_COMPLETED)
                for future in sorted(ended, key=lambda one: futures[one]):
                    self._done(futures[future], _row(future, runs[futures[future]]))
                head = f"{len(self._rows)} of {len(runs)} runs, {monotonic() - begun:.0f} s"
                under_way = [(futures[one], watches[futures[one]].said) for one in left]
                display.show([head, *(f"  {runs[i].name}: {said}" for i, said in sorted(under_way) if said)])
            if self.stopped:
                self._team.dismiss()
                display.say(f"stopped: {len(self._rows)} of {len(runs)} runs have ended")
        return [self._rows.get(i) or not_made(run, STOPPED, "stopped by Ctrl-C") for i, run in enumerate(runs)]

    def _done(self, number: int, row: Row) -> None:
        self._rows[number] = row
        facts = {"method": row.variant, "level": row.factor, "status": row.status, "verdict": row.verdict}
        self._display.event("run", **facts)

    @contextlib.contextmanager
    def _listening(self) -> Iterator[None]:
        """Only the main thread may say what Ctrl-C means."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = signal.signal(signal.SIGINT, self._pressed)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)

    def _pressed(self, *_: Any) -> None:
        self.stopped = True


def _row(future: Future[Row], run: Run) -> Row:
    error = future.exception()
    if error is None:
        return future.result()
    if isinstance(error, ClusterLost):
        return not_made(run, FAILED, f"the cluster was lost: {error}")
    if isinstance(error, WorkerLost):
        return not_made(run, FAILED, str(error))
    if "SDCDSL_TRACEBACK" in os.environ:
        traceback.print_exception(error)
    # A bug in one method: the others go on. What the error says may quote data.
    return not_made(run, FAILED, f"a bug: {type(error).__name__}")
