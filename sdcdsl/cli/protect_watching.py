"""What somebody sees while `protect` runs, and what Ctrl-C does.

The work is done in a thread of its own, because solvers do not let signals through: the main thread waits, shows where
the search stands, and listens. Ctrl-C ends the search, and the best release found so far is audited and released; a
second time it ends the program, before anything is written.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import ExitStack
from time import monotonic
from typing import Any, Self, TypeVar

import click

from sdcdsl.methods.result import Clock, Standing, gap
from sdcdsl.pipeline import Watch

T = TypeVar("T")

INTERRUPTED = 130
EVERY = 5.0  # seconds between two lines where nobody watches a terminal
PATIENCE = 1.0  # nothing is shown of what takes less


class Watching(Watch):
    def __init__(self) -> None:
        self._clock: Clock | None = None
        self._presses = self._heeded = 0
        self._block, self._doing = "", ""
        self._standing: Standing | None = None
        self._begun = monotonic()
        self._handler: Any = None

    # ---- told by the pipeline, in its thread -------------------------------------------------------

    def searching(self, block: str, method: str, clock: Clock) -> None:
        if block != self._block:  # who ended the search of one block did not speak of the next
            self._presses = self._heeded = 0
        self._block, self._doing, self._standing, self._clock = block, method, None, clock

    def standing(self, standing: Standing) -> None:
        self._standing = standing

    def auditing(self, block: str, done: int, total: int) -> None:
        self._clock = None
        self._block, self._standing = block, None
        self._doing = f"audit, {done} of {total} pairs"

    def assessing(self, block: str, done: int, total: int) -> None:
        self._block, self._standing = block, None
        self._doing = f"experiments, {done} of {total} attackers"

    @property
    def stopped(self) -> bool:
        return self._presses > 0

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
        again, self._heeded = self._presses > 1, self._presses
        if again or not self._doing:
            click.echo("\nstopped; nothing was written", err=True)
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(INTERRUPTED)  # a solver may be deep in a computation that nothing else can end
        if self._clock is not None:
            self._clock.stop = True
            said = "the search ends; the best release found so far is audited"
        else:
            said = "the audit goes on"
        click.echo(f"\n{said}. Ctrl-C once more: nothing is written", err=True)

    # ---- waiting -----------------------------------------------------------------------------------

    def run(self, work: Callable[[], T]) -> T:
        """Does the work; Ctrl-C is heeded while it lasts. What is released afterwards is not interrupted any more."""
        done: list[T] = []
        failed: list[BaseException] = []

        def act() -> None:
            try:
                done.append(work())
            except BaseException as error:
                failed.append(error)

        thread = threading.Thread(target=act, daemon=True, name="protect")
        thread.start()
        with _Display() as display:
            while thread.is_alive():
                thread.join(0.1)
                if self._presses > self._heeded:
                    self._heed()
                display.show(self._line())
        if failed:
            raise failed[0]
        return done[0]

    def _line(self) -> str:
        parts = [f"{self._block}: {self._doing}" if self._doing else "reading the data"]
        standing = self._standing
        if standing is not None:
            parts.append(standing.phase)
            if standing.objective is not None:
                parts.append(f"objective {standing.objective:.8g}")
            if standing.bound is not None:
                parts.append(f"bound {standing.bound:.8g}")
            if standing.objective is not None and standing.bound is not None:
                parts.append(f"gap {100 * gap(standing.objective, standing.bound):.3g} %")
            parts += [standing.note] if standing.note else []
        return ", ".join([*parts, f"{monotonic() - self._begun:.0f} s"])


class _Display:
    """One line that changes on a terminal; on a pipe a line every few seconds."""

    def __init__(self) -> None:
        self._begun = monotonic()
        self._last = self._begun - EVERY
        self._line = ""
        self._live: Any = None
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: Any) -> None:
        self._stack.__exit__(*error)

    def show(self, line: str) -> None:
        now = monotonic()
        if now - self._begun < PATIENCE or line == self._line:
            return
        if sys.stderr.isatty():
            self._line = line
            self._update(line)
        elif now - self._last >= EVERY:
            self._last = now
            click.echo(line, err=True)

    def _update(self, line: str) -> None:
        from rich.text import Text  # noqa: PLC0415

        if self._live is None:
            from rich.console import Console  # noqa: PLC0415
            from rich.live import Live  # noqa: PLC0415

            console = Console(stderr=True)
            self._live = self._stack.enter_context(Live(console=console, transient=True, auto_refresh=False))
        self._live.update(Text(line, overflow="ellipsis", no_wrap=True), refresh=True)
