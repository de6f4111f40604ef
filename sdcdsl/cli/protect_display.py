"""How progress is shown: live on a terminal, as lines for logs, as JSON events for programs, or not at all."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from dataclasses import dataclass
from math import isfinite
from time import monotonic
from typing import Any, Self

from sdcdsl.cli.printing import echo, echo_event
from sdcdsl.deadline import Deadline
from sdcdsl.diagnostics.foreign import visible
from sdcdsl.methods.result import Progress, gap

EVERY = 5.0  # seconds between two lines of a log
OFTEN = 0.5  # seconds between two events of one kind about one block
PATIENCE = 1.0  # nothing is shown of what takes less
BAR = 12  # signs of a bar


@dataclass
class BlockDisplay:
    """What is known of one block on its way."""

    name: str
    begun: float
    size: str = ""
    doing: str = "waiting"
    deadline: Deadline | None = None  # of a search that runs
    progress: Progress | None = None
    stopped: bool = False  # by Ctrl-C
    done: bool = False
    settled: float | None = None  # share of what an audit or an experiment has to do

    @property
    def left(self) -> float | None:
        """Seconds that a search has left."""
        if self.deadline is None or self.deadline.limit is None or self.deadline.stop:
            return None
        return self.deadline.remaining

    @property
    def share(self) -> float | None:
        """How much of the time of a search has passed, or of other work is done."""
        if self.settled is not None or self.left is None or self.deadline is None or not self.deadline.limit:
            return self.settled
        return 1.0 - self.left / self.deadline.limit

    def line(self) -> str:
        known = described(self.progress) or ([self.size] if self.size and self.deadline is not None else [])
        parts = [f"{self.name}: {self.doing}", *known]
        if self.left is not None:
            parts.append(f"{self.left:.0f} s left")
        line = ", ".join([*parts, f"{monotonic() - self.begun:.0f} s"])
        return line if self.share is None else f"{line} {bar(self.share)}"


def bar(share: float) -> str:
    filled = round(min(max(share, 0.0), 1.0) * BAR)
    return f"[{'#' * filled}{'-' * (BAR - filled)}]"


def figures(progress: Progress) -> dict[str, float | None]:
    """The figures of a search, by the names that lines and events have in common."""
    known = progress.objective is not None and progress.bound is not None
    share = gap(progress.objective, progress.bound) if known else None  # type: ignore[arg-type]
    finite = share if share is not None and isfinite(share) else None
    return {"objective": progress.objective, "bound": progress.bound, "gap": finite}


def described(progress: Progress | None) -> list[str]:
    if progress is None:
        return []
    parts = [progress.phase]
    for name, value in figures(progress).items():
        if value is not None:
            parts.append(f"{name} {100 * value:.3g} %" if name == "gap" else f"{name} {value:.8g}")
    return [*parts, progress.note] if progress.note else parts


class Display:
    """Shows nothing; for pipes, which nobody watches."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: Any) -> None:
        pass

    def show(self, lines: list[str]) -> None:
        """Where everything stands; called ten times a second."""

    def event(self, kind: str, block: str | None = None, **facts: Any) -> None:
        """Something happened."""

    def say(self, text: str) -> None:
        """To somebody who pressed a key."""
        echo(f"\n{text}", err=True)


class Lines(Display):
    """A line every few seconds."""

    def __init__(self) -> None:
        self._begun = monotonic()
        self._last = self._begun - EVERY

    def show(self, lines: list[str]) -> None:
        now = monotonic()
        if now - self._begun >= PATIENCE and now - self._last >= EVERY:
            self._last = now
            for line in lines:
                echo(line, err=True)


class Events(Display):
    """One JSON object a line, of what repeats quickly only now and then."""

    def __init__(self) -> None:
        self._begun = monotonic()
        self._last: dict[tuple[str, str | None], float] = {}

    def event(self, kind: str, block: str | None = None, **facts: Any) -> None:
        now = monotonic()
        if kind in ("progress", "auditing", "assessing"):
            if now - self._last.get((kind, block), -OFTEN) < OFTEN:
                return
            self._last[kind, block] = now
        about = {"block": block} if block is not None else {}
        said = {"event": kind, **about, **facts, "seconds": round(now - self._begun, 3)}
        echo_event({k: v for k, v in said.items() if v is not None})

    def say(self, text: str) -> None:
        self.event("stopping", said=text)


class Live(Display):
    """A line for each block, which change in place."""

    def __init__(self) -> None:
        self._begun = monotonic()
        self._shown: list[str] = []
        self._live: Any = None
        self._stack = ExitStack()

    def __exit__(self, *error: Any) -> None:
        self._stack.__exit__(*error)

    def show(self, lines: list[str]) -> None:
        if monotonic() - self._begun < PATIENCE or lines == self._shown:
            return
        from rich.console import Console, Group  # noqa: PLC0415
        from rich.live import Live as Screen  # noqa: PLC0415
        from rich.text import Text  # noqa: PLC0415

        if self._live is None:
            screen = Screen(console=Console(stderr=True), transient=True, auto_refresh=False)
            self._live = self._stack.enter_context(screen)
        self._shown = lines
        self._live.update(Group(*(Text(visible(line)) for line in lines)), refresh=True)


def display(mode: str, as_document: bool) -> Display:
    """`auto`: live on a terminal; elsewhere events for who wants JSON, and otherwise quiet."""
    if mode == "auto":
        mode = "live" if sys.stderr.isatty() else "events" if as_document else "none"
    kinds: dict[str, type[Display]] = {"live": Live, "lines": Lines, "events": Events, "none": Display}
    return kinds[mode]()
