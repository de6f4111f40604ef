"""What there is to measure: rows, each of an instance, a method and the phases it times, in suites.

A suite is a script of its own with `SUITE` in it; `suites()` finds them all. The runner (`runner.py`) starts every row
in a process of its own, the report (`report.py`) writes pages and plots from what was kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from math import log
from typing import Any

Row = dict[str, Any]
Done = Mapping[tuple[str, str], Row]  # rows of this run, by instance and method

PHASES = ("read", "bind", "build", "solve", "audit", "write")
MODULES = (
    "startup",
    "binding",
    "protect",
    "csp",
    "ip",
    "cta",
    "cta_senses",
    "ecta",
    "rounding",
    "audit",
    "peers",
    "paper_000",
    "paper_002",
    "paper_003",
    "paper_004",
    "scaling",
    "accelerators",
    "contributors",
    "variants",
)


@dataclass(frozen=True)
class Setting:
    """What a row is measured with."""

    limit: float  # seconds for the method
    clock: str = "cpu"
    cache: str = ""  # a folder where environments of peers and releases are kept; empty: none
    options: Mapping[str, Any] = field(default_factory=dict)  # of the suite


@dataclass(frozen=True)
class Entry:
    """One row to be measured."""

    kind: str  # which of the suite's tables it stands in
    instance: str
    method: str
    measure: Callable[[Setting], Row]  # runs in a process of its own
    limit: float  # seconds for the method
    phases: tuple[str, ...] = ("solve", "audit")
    judge: Callable[[Row], Row] = lambda row: {}  # what is added to the row, from the row alone
    about: str = ""  # the promise, for a list
    here: bool = True  # its data is there
    quick: float | None = None  # seconds for the method in a quick run; None: not part of it
    longer: float = 0.0  # seconds on top of the limit that the row may take
    peer: bool = False  # another program, which has to be installed
    series: str = ""  # rows of a series grow: after one that did not end in its limit, the rest is left out
    size: float = 0.0  # of a row of a series

    @property
    def key(self) -> tuple[str, str]:
        return self.instance, self.method


def foreseen(points: Sequence[tuple[float, float]], size: float) -> float | None:
    """Seconds at a size, if time goes on growing as between the last two (size, seconds) of a series; None: nobody
    knows."""
    if len(points) < 2:
        return None
    (n, before), (m, last) = sorted(points)[-2:]
    if not (n < m and before > 0 and last > 0):
        return None
    return last * (size / m) ** (log(last / before) / log(m / n))


@dataclass(frozen=True)
class Columns:
    """How the rows of one kind are shown."""

    names: tuple[str, ...]
    words: Callable[[Row], Sequence[str]]

    def lines(self, rows: Iterable[Row]) -> list[str]:
        shown = [self.names, ("---",) * len(self.names), *(self.words(row) for row in rows)]
        return ["| " + " | ".join(words) + " |" for words in shown]


@dataclass(frozen=True)
class Suite:
    """`entries` is asked once a run and goes on while rows are measured: later ones may look at earlier ones."""

    name: str  # of the script, and of the file with its results
    about: str | None
    entries: Callable[[Done], Iterable[Entry]]
    tables: Mapping[str, Columns]  # by the `kind` of rows
    options: Mapping[str, Any] = field(default_factory=dict)  # names and what they are unless given
    plots: Callable[[Sequence[Row]], Mapping[str, str]] = lambda rows: {}  # SVG files by name, from rows
    summary: Callable[[Sequence[Row]], Iterable[str]] = lambda rows: ()  # lines that stand before the tables

    def find(self, instance: str, method: str) -> Entry:
        return next(entry for entry in self.entries({}) if entry.key == (instance, method))


def suites() -> dict[str, Suite]:
    return {name: import_module(name).SUITE for name in MODULES}
