"""Why a cell is as it is: what made it sensitive, what the release did with it, what it is needed for, what attackers
infer about it, and what would become of the others if it were published."""

from __future__ import annotations

from dataclasses import dataclass

from sdcdsl.bind.problem import TableProblem
from sdcdsl.pattern import Pattern
from sdcdsl.pattern.pattern import CHANGED, EXACT, HIDDEN, INTERVAL
from sdcdsl.pipeline.cell_facts import (
    Finding,
    Foreknown,
    Membership,
    Seat,
    Touch,
    findings,
    foreknown,
    memberships,
    seats,
    sums_with,
    touches,
)
from sdcdsl.pipeline.inferences import Inferred, inferences, outsider
from sdcdsl.pipeline.publication_effect import Publishing, needed_for
from sdcdsl.policy.resolve import Policy

KINDS = {EXACT: "published", HIDDEN: "hidden", INTERVAL: "an interval", CHANGED: "changed"}


@dataclass(frozen=True, eq=False)
class Explanation:
    """Of one cell of one block. Without a release nothing is said about attackers."""

    problem: TableProblem
    cell: int
    seats: tuple[Seat, ...]
    memberships: tuple[Membership, ...]
    sums: tuple[int, ...]  # protected sums that the cell is part of
    findings: tuple[Finding, ...]
    touches: tuple[Touch, ...]
    pattern: Pattern | None = None
    by: str = ""  # the method that made the release, or the file it was read from
    inferred: tuple[Inferred, ...] = ()
    outsider: Inferred | None = None  # where nobody in particular is to be kept from the cell
    publishing: Publishing | None = None  # where it is not published, and attackers can be simulated
    foreknown: tuple[Foreknown, ...] = ()

    @property
    def block(self) -> str:
        return self.problem.name

    @property
    def label(self) -> str:
        return self.problem.label(self.cell)

    @property
    def value(self) -> float:
        return float(self.problem.dataset["a"].values[self.cell])

    @property
    def status(self) -> str:
        """Of the problem: u sensitive · s may be touched · z published as it is · m already hidden."""
        return str(self.problem.dataset["status"].values[self.cell])

    @property
    def sensitive(self) -> bool:
        return self.status == "u"

    @property
    def kind(self) -> str | None:
        """What the release does with the cell."""
        return None if self.pattern is None else KINDS[str(self.pattern.status[self.cell])]

    @property
    def attacked(self) -> bool:
        """False where nothing is published about how values were changed: there is nothing to compute with."""
        return self.pattern is not None and self.pattern.claims


def explain(
    problem: TableProblem, cell: int, policy: Policy, pattern: Pattern | None = None, by: str = ""
) -> Explanation:
    """Everything there is to say about a cell of `problem`, released as `pattern` says."""
    inferred: tuple[Inferred, ...] = ()
    nobody: Inferred | None = None
    publishing: Publishing | None = None
    if pattern is not None and pattern.claims:
        inferred = inferences(problem, pattern, cell)
        if pattern.status[cell] != EXACT:
            nobody = outsider(problem, pattern, cell) if not inferred else None
            publishing = needed_for(problem, pattern, cell)
    return Explanation(
        problem,
        cell,
        seats(problem, cell, policy),
        memberships(problem, cell, pattern),
        sums_with(problem, cell),
        findings(problem, cell),
        touches(problem, cell),
        pattern,
        by,
        inferred,
        nobody,
        publishing,
        foreknown(problem, cell),
    )
