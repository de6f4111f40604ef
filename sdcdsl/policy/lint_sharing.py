"""Figures that stand in several releases: advice on them, and what refuses to publish them in one run."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sdcdsl.diagnostics import Diagnostic, diagnostic
from sdcdsl.policy import document as d
from sdcdsl.policy import expressions as x
from sdcdsl.policy.measure import measure_of, quantity_of
from sdcdsl.policy.resolve import Policy


@dataclass(frozen=True)
class SharedFigures:
    """Two blocks that release the same figures, and a table of each that holds them."""

    before: d.Block
    protect: d.Block
    old: str
    new: str

    @property
    def headline(self) -> str:
        return f"`{self.protect.name}` and `{self.before.name}` publish the same figures"

    @property
    def what(self) -> str:
        return "this table again" if self.old == self.new else f"`{self.new}` shares cells with `{self.old}`"

    @property
    def together(self) -> str:
        """How one block would begin that protects the tables of both."""
        return f"protect {', '.join(dict.fromkeys([*self.before.tables, *self.protect.tables]))} {{ … }}"


def sharing(policy: Policy, blocks: Sequence[d.Block]) -> Iterator[SharedFigures]:
    """Blocks that publish what an earlier one of them publishes: each once, with the first such block."""
    released = [p for p in blocks if p.all(d.Release)]
    for at, protect in enumerate(released):
        for before in released[:at]:
            tables = _shared(policy, before, protect)
            if tables is not None:
                yield SharedFigures(before, protect, *tables)
                break


def apart(policy: Policy, today: datetime.date) -> Iterator[Diagnostic]:
    """Blocks are protected without regard to each other, and readers lay their releases side by side."""
    return (advice(shared) for shared in sharing(policy, list(policy.protects.values())))


def advice(shared: SharedFigures) -> Diagnostic:
    found = diagnostic(
        "SDC217",
        f"{shared.headline}, each without regard to the other",
        shared.protect.heading,
        shared.what,
        notes=["a figure that one of them hides may stand in the other, or follow from both"],
        help="one release of the table" if shared.old == shared.new else f"one block for both: {shared.together}",
    )
    return found.mark(shared.before.heading, "protected here")


def _shared(policy: Policy, one: d.Block, other: d.Block) -> tuple[str, str] | None:
    """A table of each that hold the same figures."""
    pairs = ((old, new) for old in one.tables for new in other.tables if {old, new} <= policy.tables.keys())
    return next(((o, n) for o, n in pairs if _same_figures(policy.tables[o], policy.tables[n])), None)


def _same_figures(one: d.Block, other: d.Block) -> bool:
    if one.name == other.name or _files(one) & _files(other):
        return True
    if measure_of(one) == measure_of(other):
        return True
    quantity = quantity_of(one)
    if quantity is None or quantity != quantity_of(other):
        return False
    # The same quantity of other records: a part that the other table shows by one of its dimensions.
    mine, theirs = _records(one), _records(other)
    return _shown_by(other, mine - theirs) and _shown_by(one, theirs - mine)


def _files(table: d.Block) -> set[str]:
    """Whole tables from one file (JJ)."""
    return {origin.file.path for origin in table.all(d.Origin)}


def _records(table: d.Block) -> set[x.Expression]:
    return {only.where for only in table.all(d.Only)}


def _shown_by(table: d.Block, conditions: set[x.Expression]) -> bool:
    dimensions = {name for by in table.all(d.By) for name in by.dimensions}
    return all(names <= dimensions for names in map(_names, conditions))


def _names(condition: x.Expression) -> set[str]:
    parts = list(x.walk(condition))
    named = {part.name for part in parts if isinstance(part, x.Name)}
    return named | {part.dimension for part in parts if isinstance(part, x.Member | x.Under | x.AtLevel)}
