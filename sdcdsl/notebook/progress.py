"""Where a search stands, told to a function of the caller, or shown: below the cell of a notebook, or on one line."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from sdcdsl.deadline import Deadline
from sdcdsl.diagnostics.foreign import visible
from sdcdsl.methods.result import Progress
from sdcdsl.notebook import html
from sdcdsl.pipeline.request import Watch

OFTEN = 0.2  # seconds between two pictures: a notebook draws each of them


class Telling(Watch):
    def __init__(self, progress: Callable[[str, Progress], None]):
        self._progress = progress

    def progressed(self, block: str, progress: Progress) -> None:
        self._progress(block, progress)


class Showing(Watch):
    """The last word of every block; several threads may have one."""

    def __init__(self, show: Callable[[dict[str, str]], None]):
        self._show, self._said = show, dict[str, str]()
        self._lock, self._shown = threading.Lock(), 0.0

    def searching(self, block: str, method: str, deadline: Deadline) -> None:
        self._say(block, f"{method}: searching", at_once=True)

    def progressed(self, block: str, progress: Progress) -> None:
        words = [progress.phase]
        if progress.objective is not None:
            words.append(f"cost {html.figure(progress.objective)}")
        if progress.bound is not None:
            words.append(f"at least {html.figure(progress.bound)}")
        self._say(block, ", ".join([*words, *filter(None, [progress.note])]))

    def auditing(self, block: str, done: int, total: int) -> None:
        self._say(block, f"audit: {done:,} of {total:,} pairs")

    def assessing(self, block: str, done: int, total: int) -> None:
        self._say(block, f"attackers: {done:,} of {total:,}")

    def ended(self, block: str, end: str) -> None:
        self._say(block, end, at_once=True)

    def _say(self, block: str, words: str, at_once: bool = False) -> None:
        with self._lock:
            self._said[block] = words
            now = time.monotonic()
            if at_once or now - self._shown >= OFTEN:
                self._shown = now
                self._show(self._said)


@contextmanager
def watch(progress: bool | Callable[[str, Progress], None] | None) -> Iterator[Watch | None]:
    if callable(progress):
        yield Telling(progress)
    elif not progress:
        yield None
    elif (shell := notebook_shell()) is not None:
        yield Showing(_in_notebook(shell))
    else:
        yield Showing(_on_line)
        sys.stderr.write("\n")


def notebook_shell() -> Any:
    """The shell of IPython that runs this, if one does."""
    loaded = sys.modules.get("IPython")
    return loaded.get_ipython() if loaded is not None else None


def _in_notebook(shell: Any) -> Callable[[dict[str, str]], None]:
    from IPython.display import HTML, display  # noqa: PLC0415  # pyright: ignore[reportMissingImports]

    handle = display(HTML(""), display_id=True)
    return lambda said: handle.update(HTML(html.facts(said.items()))) if handle is not None else None


def _on_line(said: dict[str, str]) -> None:
    line = visible("; ".join(f"{block}: {words}" for block, words in said.items()))
    sys.stderr.write(f"\r\x1b[K{line}")
    sys.stderr.flush()
