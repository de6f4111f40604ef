"""A block in another process: what goes on there is told here, and what is stopped here is stopped there."""

from __future__ import annotations

from time import monotonic
from typing import Any

from sdcdsl.deadline import Deadline
from sdcdsl.executing import Channel
from sdcdsl.methods.result import Progress
from sdcdsl.pipeline.request import Watch

OFTEN = 0.2  # seconds between two words of one kind


class ProgressSender(Watch):
    """There: says on the line what goes on. Where others may listen it is the phase, not what was found."""

    def __init__(self, line: Channel) -> None:
        self._line = line
        self._last: dict[str, float] = {}
        self._deadline: Deadline | None = None
        self._searches = self._stopped = 0
        line.listen(self._stop)

    def _stop(self, search: int) -> None:
        self._stopped = search
        if self._deadline is not None and search >= self._searches:
            self._deadline.stop = True

    def searching(self, block: str, method: str, deadline: Deadline) -> None:
        self._searches += 1
        self._deadline = deadline
        self._line.say(("searching", method, deadline.limit, self._searches))

    def progressed(self, block: str, progress: Progress) -> None:
        if self._due("progress"):
            found = progress.objective, progress.bound, progress.note
            self._line.say(("progress", progress.phase, *((None, None, "") if self._line.discreet else found)))

    def auditing(self, block: str, done: int, total: int) -> None:
        if self._due("auditing") or done == total:
            self._line.say(("auditing", done, total))

    def assessing(self, block: str, done: int, total: int) -> None:
        if self._due("assessing") or done == total:
            self._line.say(("assessing", done, total))

    def stopped(self, block: str) -> bool:
        return self._stopped > 0

    def _due(self, kind: str) -> bool:
        now = monotonic()
        if now - self._last.get(kind, 0.0) < OFTEN:
            return False
        self._last[kind] = now
        return True


class ProgressReceiver:
    """Here: passes on to a watch what is heard of a block."""

    def __init__(self, block: str, watch: Watch) -> None:
        self._block, self._watch = block, watch
        self.line = Channel(self._hear)

    def _hear(self, message: tuple[Any, ...]) -> None:
        kind, *facts = message
        if kind == "searching":
            method, limit, search = facts
            self._watch.searching(self._block, method, _RemoteDeadline(limit, self.line, search))
        elif kind == "progress":
            self._watch.progressed(self._block, Progress(*facts))
        elif kind == "auditing":
            self._watch.auditing(self._block, *facts)
        elif kind == "assessing":
            self._watch.assessing(self._block, *facts)


class _RemoteDeadline(Deadline):
    """Shows the time of a search in another process; to stop it is to tell that process."""

    def __init__(self, limit: float | None, line: Channel, search: int) -> None:
        self._line, self._search, self._reported = line, search, False
        super().__init__(limit)

    @property
    def stop(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self._reported

    @stop.setter
    def stop(self, value: bool) -> None:
        if value and not self._reported:
            self._reported = True
            self._line.stop(self._search)
