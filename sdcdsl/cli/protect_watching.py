"""What somebody sees while `protect` runs, and what Ctrl-C does.

The work is done in a thread of its own, because solvers do not let signals through: the main thread waits, shows where
the search stands, and listens. Ctrl-C ends the searches that run, and the best releases found so far are audited and
released; once more, when nothing is searched that was not ended already, it ends the program, before anything is
written.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable
from time import monotonic
from typing import Any, Self, TypeVar

from sdcdsl.bind.problem import TableProblem
from sdcdsl.cli.audit_text import count
from sdcdsl.cli.exits import STOPPED
from sdcdsl.cli.printing import echo
from sdcdsl.cli.protect_display import BlockDisplay, Display, display, figures
from sdcdsl.deadline import Deadline
from sdcdsl.executing import Team
from sdcdsl.executing.timeouts import BackgroundThread
from sdcdsl.methods.result import Progress
from sdcdsl.outcome import Prepared
from sdcdsl.pipeline.protect import Preparing, prepare
from sdcdsl.pipeline.request import ProtectRequest, Watch

T = TypeVar("T")


class Watching(Watch):
    def __init__(self, display: Display) -> None:
        self._display = display
        self._blocks: dict[str, BlockDisplay] = {}
        self._presses = self._heeded = 0
        self._warned = False
        self._begun = monotonic()
        self._handler: Any = None

    # ---- told by the pipeline, in its threads ------------------------------------------------------

    def bound(self, problem: TableProblem) -> None:
        counts = problem.summary()
        size = f"{count(counts['cells'])} cells, {count(counts['pairs'])} pairs"
        self._blocks[problem.name] = BlockDisplay(problem.name, self._begun, size)
        self._display.event("bound", problem.name, **{k: counts[k] for k in ("cells", "sensitive", "pairs")})

    def searching(self, block: str, method: str, deadline: Deadline) -> None:
        self._warned = False  # who ended one search did not speak of the next
        self._at(block, method, deadline)
        self._display.event("searching", block, method=method, limit=deadline.limit)

    def progressed(self, block: str, progress: Progress) -> None:
        at = self._blocks[block]
        at.progress = progress
        left = None if at.left is None else round(at.left, 1)
        facts = {"phase": progress.phase, **figures(progress), "note": progress.note or None, "left": left}
        self._display.event("progress", block, **facts)

    def auditing(self, block: str, done: int, total: int) -> None:
        self._at(block, f"audit, {done} of {total} pairs", settled=done / max(total, 1))
        self._display.event("auditing", block, done=done, total=total)

    def assessing(self, block: str, done: int, total: int) -> None:
        doing, settled = f"experiments, {done} of {total} attackers", done / max(total, 1)
        self._at(block, doing, self._blocks[block].deadline, settled)
        self._display.event("assessing", block, done=done, total=total)

    def ended(self, block: str, end: str) -> None:
        self._at(block, end)
        self._blocks[block].done = True
        self._display.event("ended", block, end=end)

    def _at(self, block: str, doing: str, deadline: Deadline | None = None, settled: float | None = None) -> None:
        at = self._blocks.setdefault(block, BlockDisplay(block, self._begun))
        at.doing, at.progress, at.deadline, at.settled = doing, None, deadline, settled

    def stopped(self, block: str) -> bool:
        return block in self._blocks and self._blocks[block].stopped

    # ---- Ctrl-C ------------------------------------------------------------------------------------

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._handler = signal.signal(signal.SIGINT, self._pressed)
        return self

    def __exit__(self, *_: object) -> None:
        if self._handler is not None:
            signal.signal(signal.SIGINT, self._handler)

    def _pressed(self, *_: object) -> None:
        self._presses += 1

    def _heed(self) -> None:
        """Another press since the last look."""
        self._heeded = self._presses
        searches = [b for b in self._blocks.values() if b.deadline is not None and not b.stopped]
        begun = any(b.doing != "waiting" for b in self._blocks.values())
        if not begun or (not searches and self._warned):
            self._display.__exit__(None, None, None)
            echo("\nstopped; nothing was written", err=True)
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(STOPPED)  # a solver may be deep in a computation that nothing else can end
        self._warned = True
        for block in searches:
            assert block.deadline is not None
            block.stopped = block.deadline.stop = True
        said = "the search ends; the best release found so far is audited" if searches else "the audit goes on"
        self._display.say(f"{said}. Ctrl-C once more: nothing is written")

    # ---- waiting -----------------------------------------------------------------------------------

    def run(self, work: Callable[[], T]) -> T:
        """Does the work; Ctrl-C is heeded while it lasts. What is released afterwards is not interrupted any more."""
        aside = BackgroundThread(work, "protect")
        with self._display as display:
            working = True
            while working:
                working = not aside.ended(0.1)
                if self._presses > self._heeded:
                    self._heed()
                display.show(self._lines())
        return aside.result()

    def _lines(self) -> list[str]:
        blocks = list(self._blocks.values())
        begun = [b for b in blocks if b.doing != "waiting" and not b.done]
        if not begun:
            return [f"reading the data, {monotonic() - self._begun:.0f} s"]
        pending, done = sum(b.doing == "waiting" for b in blocks), sum(b.done for b in blocks)
        rest = [f"{done} of {len(blocks)} blocks done, {pending} waiting"] if done + pending else []
        return [block.line() for block in begun] + rest


def watched(mode: str, team: Team | None = None) -> Preparing:
    """`prepare` for commands that protect in order to tell something about it: shown in this mode, ended by Ctrl-C."""

    def preparing(request: ProtectRequest) -> Prepared:
        watching = Watching(display(mode, as_document=False))
        with watching:
            return watching.run(lambda: prepare(request, watching, team))

    return preparing
