"""The table of a comparison: one row a run, and only columns that some run fills."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

from sdcdsl.pipeline.compare import CompareRow
from sdcdsl.status import FEASIBLE, OPTIMAL

QUICK = 5.0  # seconds: below that a machine measures how fast it loads solvers
NONE = "–"
_GAP = 2


def _count(row: CompareRow, kind: str) -> str:
    return NONE if row.measures is None else str(getattr(row.measures, kind))


def _deviation(row: CompareRow) -> str:
    if row.measures is None or row.measures.all_cells is None:
        return NONE
    relative = row.measures.all_cells.relative
    return f"{_figure(relative.mean)}, {_figure(relative.maximum)}"


def _width(row: CompareRow) -> str:
    """Of the ranges that readers are told."""
    return NONE if row.measures is None or row.measures.widths is None else _figure(row.measures.widths.relative.mean)


def _attackers(row: CompareRow) -> str:
    if row.status not in (OPTIMAL, FEASIBLE):
        return NONE
    if row.left is None:
        return "no attacker"
    return f"{_figure(row.left.width)}, {_figure(row.left.least_width)}"


def _risk(row: CompareRow) -> str:
    return NONE if row.left is None else f"{_figure(row.left.risk)}, {_figure(row.left.worst_risk)}"


def _seconds(row: CompareRow) -> str:
    seconds = sum(row.seconds.values())
    return NONE if not row.seconds else f"< {QUICK:.0f}" if seconds < QUICK else f"{seconds:.0f}"


def _figure(x: float | None) -> str:
    """Three digits are enough to compare by; large numbers keep all of theirs before the point."""
    if x is None:
        return NONE
    if math.isinf(x):
        return "∞"
    if abs(x) < 1e-9:
        return "0"
    return f"{x:.0f}" if abs(x) >= 100 else f"{x:.3g}"


# Heading, unit, what stands there. Texts are aligned left, figures right.
_COLUMNS: tuple[tuple[str, str, Callable[[CompareRow], str]], ...] = (
    ("method", "", lambda row: row.variant),
    ("levels", "", lambda row: f"× {row.factor:g}"),
    ("verdict", "", lambda row: row.verdict or row.status),
    ("hidden", "cells", lambda row: _count(row, "hidden")),
    ("intervals", "cells", lambda row: _count(row, "intervals")),
    ("changed", "cells", lambda row: _count(row, "changed")),
    ("touched", "% of value", lambda row: NONE if row.measures is None else _figure(row.measures.value_touched)),
    ("deviation", "mean, max %", _deviation),
    ("width", "mean %", _width),
    ("loss", "%", lambda row: _figure(row.loss)),
    ("attackers", "median, least %", _attackers),
    ("risk", "median, worst %", _risk),
    ("cost", "", lambda row: NONE if row.measures is None else _figure(row.measures.cost)),
    ("gap", "%", lambda row: NONE if row.gap is None or not row.found else _figure(round(100 * row.gap, 4))),
    ("time", "s", _seconds),
)
_LEFT = 3  # columns of text
_COUNTS = ("hidden", "intervals", "changed")


def table_of(rows: Sequence[CompareRow]) -> Iterator[str]:
    columns = []
    for number, (name, unit, tell) in enumerate(_COLUMNS):
        texts = [tell(row) for row in rows]
        if number < _LEFT or any(text not in (NONE, "0") or (text == "0" and name not in _COUNTS) for text in texts):
            columns.append([name, unit, *texts])
    for line in zip(*(_aligned(column, i < _LEFT) for i, column in enumerate(columns)), strict=True):
        yield (" " * _GAP).join(line).rstrip()


def _aligned(column: Sequence[str], left: bool) -> list[str]:
    wide = max(map(len, column))
    return [text.ljust(wide) if left else text.rjust(wide) for text in column]
