"""How rules speak of themselves: their formula once for all, and what it comes to in one cell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol, runtime_checkable

from sdcdsl.bind.rules.cells import RuleCells


@dataclass(frozen=True)
class Formula:
    """In the letters of the language reference: X = Σ |contribution|, x1 ≥ x2 ≥ … the largest of them."""

    sensitive: str
    level: str


@runtime_checkable
class ExplainedRule(Protocol):
    """A rule that can say what it found. Those of third parties need not."""

    formula: ClassVar[Formula]

    def said(self, cells: RuleCells, cell: int) -> str:
        """The formula with the figures of one cell, whether the cell is sensitive or not."""
        ...


def figure(x: float) -> str:
    return f"{float(x):.9g}"


def percent(share: float) -> str:
    return f"{100 * float(share):.3g} %"


def heads(number: int) -> str:
    return f"{int(number)} contributor{'' if int(number) == 1 else 's'}"
