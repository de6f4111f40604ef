"""A line on the terminal that counts while something takes its time."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from sdcdsl.cli.printing import echo_in_place

OFTEN = 0.5  # seconds between two looks at it


@contextmanager
def counting(doing: str, what: str) -> Iterator[Callable[[int, int], None] | None]:
    """`auditing turnover: 12 of 30 pairs, 4 s`. Nothing where nobody watches."""
    if not sys.stderr.isatty():
        yield None
        return
    begun = last = time.monotonic()

    def show(done: int, total: int) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last > OFTEN:
            last = now
            echo_in_place(f"{doing}: {done} of {total} {what}, {now - begun:.0f} s ")

    try:
        yield show
    finally:
        if last > begun:
            echo_in_place()
