"""A line on the terminal that counts while something takes its time."""

from __future__ import annotations

import sys
import time
from typing import Self

from sdcdsl.cli.printing import echo_in_place
from sdcdsl.pipeline.request import Watch

OFTEN = 0.5  # seconds between two looks at it


class Counting(Watch):
    """`auditing turnover: 12 of 30 pairs, 4 s`. Nothing where nobody watches."""

    def __enter__(self) -> Self:
        self._watched, self._doing, self._shown = sys.stderr.isatty(), "", False
        self._begun = self._last = time.monotonic()
        return self

    def __exit__(self, *_: object) -> None:
        if self._shown:
            echo_in_place()

    def auditing(self, block: str, done: int, total: int) -> None:
        self._show(f"auditing {block}", f"{done} of {total} pairs")

    def assessing(self, block: str, done: int, total: int) -> None:
        self._show(f"attacking {block}", f"{done} of {total} attackers")

    def _show(self, doing: str, count: str) -> None:
        now = time.monotonic()
        if doing != self._doing:
            self._doing, self._begun = doing, now
        if self._watched and now - self._last > OFTEN:
            self._last, self._shown = now, True
            echo_in_place(f"{doing}: {count}, {now - self._begun:.0f} s ")
