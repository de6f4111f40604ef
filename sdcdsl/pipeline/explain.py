"""Why a cell is as it is: what made it sensitive, what the release did with it, what it is needed for, what attackers
infer about it, and what would become of the others if it were published."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sdcdsl.bind.problem import TableProblem
from sdcdsl.diagnostics import Diagnostic, has_errors
from sdcdsl.outcome import End
from sdcdsl.pattern import Pattern
from sdcdsl.pattern.pattern import CHANGED, EXACT, HIDDEN, INTERVAL
from sdcdsl.pipeline.bind import bind
from sdcdsl.pipeline.cell_costs import Price, prices
from sdcdsl.pipeline.cell_facts import (
    CellPosition,
    Finding,
    Foreknown,
    Membership,
    Touch,
    findings,
    foreknown,
    memberships,
    seats,
    sums_with,
    touches,
)
from sdcdsl.pipeline.cell_names import CellName, find_cells
from sdcdsl.pipeline.inferences import Inferred, inferences, outsider
from sdcdsl.pipeline.protect import Preparing, prepare
from sdcdsl.pipeline.publication_effect import Publishing, needed_for
from sdcdsl.pipeline.released_tables import ReleasedTables
from sdcdsl.pipeline.request import Inputs, writing_nothing
from sdcdsl.policy.resolve import Policy

KINDS = {EXACT: "published", HIDDEN: "hidden", INTERVAL: "an interval", CHANGED: "changed"}


@dataclass(frozen=True, eq=False)
class Explanation:
    """Of one cell of one block. Without a release nothing is said about attackers."""

    problem: TableProblem
    cell: int
    seats: tuple[CellPosition, ...]
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
    prices: tuple[Price, ...] = ()

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
        prices(problem, cell, policy),
    )


# ---- from a policy and the names of cells --------------------------------------------------------------


@dataclass(frozen=True)
class ExplainRequest(Inputs):
    cells: Sequence[CellName] = ()
    released: ReleasedTables = field(default_factory=ReleasedTables)  # without any the policy is run
    time_limit: float | None = None  # for each method, instead of the policy's


@dataclass(frozen=True, eq=False)
class ExplainedCells:
    explanations: tuple[Explanation, ...] = ()
    found: tuple[Diagnostic, ...] = ()
    end: End = End.DONE
    unknown: bool = False  # a cell was named that is not there


@dataclass(frozen=True, eq=False)
class _Release:
    """What a block publishes, and who says so; without a pattern nothing was found."""

    problem: TableProblem
    pattern: Pattern | None
    method: str = ""
    files: Mapping[str, Path] = field(default_factory=dict[str, Path])  # by table

    def by(self, cell: int) -> str:
        """The method, or the files of the tables that have the cell."""
        tables = [view.table for view in self.problem.views if (view.cells == cell).any()]
        return self.method or ", ".join(dict.fromkeys(str(self.files[t]) for t in tables if t in self.files))


def explain_cells(request: ExplainRequest, preparing: Preparing = prepare) -> ExplainedCells:
    """Of every block that has one of the cells; its release is read, or made as `protect` would make it."""
    bound = bind(request, request.released.files.values())
    if bound.wrong:
        return ExplainedCells(found=bound.found, end=End.WRONG_DATA)
    cells, unknown = find_cells(request.cells, bound.problems)
    if unknown:
        return ExplainedCells(found=tuple(unknown), unknown=True)
    problems = {name: problem for name, problem in bound.problems.items() if name in cells}
    if request.released.files:
        releases, found, end = _read(problems, request.released)
    else:
        releases, found, end = _made(request, list(problems), preparing)
    made = (
        explain(release.problem, cell, request.policy, release.pattern, release.by(cell))
        for name, release in releases.items()
        for cell in cells[name]
    )
    return ExplainedCells(tuple(made), tuple(dict.fromkeys([*bound.found, *found])), end)


def _read(
    problems: Mapping[str, TableProblem], released: ReleasedTables
) -> tuple[dict[str, _Release], list[Diagnostic], End]:
    out: dict[str, _Release] = {}
    found: list[Diagnostic] = []
    for name, problem in problems.items():
        pattern, wrong = released.read(problem)
        found += wrong
        if pattern is not None:
            out[name] = _Release(problem, pattern, files=released.of(problem))
    return ({}, found, End.WRONG_DATA) if has_errors(found) else (out, found, End.DONE)


def _made(
    request: ExplainRequest, blocks: list[str], preparing: Preparing
) -> tuple[dict[str, _Release], list[Diagnostic], End]:
    prepared = preparing(writing_nothing(request, blocks, time_limit=request.time_limit))
    out = {
        one.name: _Release(one.problem, one.pattern, one.method if one.attempts else "") for one in prepared.outcomes
    }
    return out, prepared.diagnostics, prepared.end
