"""What somebody sees while runs of a comparison go on side by side, and Ctrl-C, which ends all that is under way: what
is there is kept."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterable, Iterator, Sequence
from time import monotonic

from sdcdsl.cli.protect_display import Display, described
from sdcdsl.deadline import Deadline
from sdcdsl.executing import Team
from sdcdsl.methods.result import Progress
from sdcdsl.pipeline.compare import CompareRow, ComparisonWatch, VariantRun, compare_all
from sdcdsl.pipeline.request import Watch


class _LastProgress(Watch):
    """Where one run stands, in words."""

    said: str | None = None  # None: it has not begun

    def searching(self, block: str, method: str, deadline: Deadline) -> None:
        self.said = "searching"

    def progressed(self, block: str, progress: Progress) -> None:
        self.said = ", ".join(described(progress))

    def auditing(self, block: str, done: int, total: int) -> None:
        self.said = f"audit, {done} of {total} pairs"


class Comparing(ComparisonWatch):
    def __init__(self, team: Team, display: Display) -> None:
        self._team, self._display = team, display
        self._runs: Sequence[VariantRun] = ()
        self._watches: list[_LastProgress] = []
        self._begun, self._ended, self._stopped = monotonic(), 0, False

    def run(self, runs: Sequence[VariantRun]) -> list[CompareRow]:
        self._runs, self._watches = runs, [_LastProgress() for _ in runs]
        with self._listening(), self._display:
            return compare_all(runs, self._team, self)

    def of(self, number: int) -> Watch:
        return self._watches[number]

    def ended(self, number: int, row: CompareRow) -> None:
        self._ended += 1
        facts = {"method": row.variant, "level": row.factor, "status": row.status, "verdict": row.verdict}
        self._display.event("run", **facts)

    def pending(self, left: Iterable[int]) -> bool:
        count = f"{self._ended} of {len(self._runs)} runs"
        if self._stopped:
            self._display.say(f"stopped: {count} have ended")
            return False
        under_way = [(self._runs[i].name, self._watches[i].said) for i in sorted(left)]
        lines = [f"  {name}: {said}" for name, said in under_way if said]
        self._display.show([f"{count}, {monotonic() - self._begun:.0f} s", *lines])
        return True

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

    def _pressed(self, *_: object) -> None:
        self._stopped = True
