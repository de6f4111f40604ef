"""Adjusted tables and the experiments of those who try to undo them. The table is read, or made here as `protect` would
make it; nothing is written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from sdcdsl.bind.problem import TableProblem
from sdcdsl.deadline import Deadline
from sdcdsl.diagnostics import Diagnostic, FilePlace, diagnostic, has_errors
from sdcdsl.executing import SERIAL, Team
from sdcdsl.outcome import End
from sdcdsl.pipeline.bind import bind
from sdcdsl.pipeline.protect import Preparing, prepare
from sdcdsl.pipeline.released_tables import ReleasedTables
from sdcdsl.pipeline.request import Inputs, Watch, writing_nothing
from sdcdsl.pipeline.time_shares import FOR_EXPERIMENTS
from sdcdsl.policy import document as d
from sdcdsl.risk import Assessment, assess, stated, unfit
from sdcdsl.risk.assess_statements import stated_options
from sdcdsl.vocabulary.methods import EXPERIMENTS, METHODS


@dataclass(frozen=True)
class AssessRequest(Inputs):
    released: ReleasedTables = field(default_factory=ReleasedTables)  # without any the policy's own method makes them
    experiments: tuple[str, ...] | None = None  # instead of the policy's
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])  # that win over those of the policy
    seed: int = 0
    time_limit: float | None = None  # for each block: of its table, if that is made here, and of the experiments

    @property
    def blocks(self) -> list[str]:
        """The block asked for; else all, or all that adjust their table if it is still to be made."""
        names = super().blocks
        if self.block is not None or self.released.files:
            return names
        return [name for name in names if self.adjusts(name)]

    def adjusts(self, name: str) -> bool:
        engines = self.policy.protects[name].the(d.MethodChain).engines
        methods = [METHODS.get(engine.name) for engine in engines]
        return any(method is not None and method.adjusts for method in methods)


@dataclass(frozen=True, eq=False)
class AdjustedTable:
    """On its way to the experiments."""

    problem: TableProblem
    v: np.ndarray
    origin: str  # "made by cta", "read from released.csv"
    time_left: float | None  # seconds for its experiments


@dataclass(frozen=True, eq=False)
class AssessedBlocks:
    assessments: Mapping[str, tuple[Assessment, str]] = field(default_factory=dict[str, tuple[Assessment, str]])
    found: tuple[Diagnostic, ...] = ()
    end: End = End.DONE


def assess_blocks(
    request: AssessRequest, team: Team = SERIAL, watch: Watch | None = None, preparing: Preparing | None = None
) -> AssessedBlocks:
    """Every block, or the one that was required; no experiment is made if something is wrong with one."""
    refused = _refused(request)
    if refused:
        return AssessedBlocks(found=tuple(refused), end=End.WRONG_POLICY)
    if request.released.files:
        tables, found, end = _read(request)
    else:
        tables, found, end = _protected(request, preparing or (lambda one: prepare(one, team=team)))
    found = tuple(dict.fromkeys(found))
    if end is not End.DONE:
        return AssessedBlocks(found=found, end=end)
    unfitting = [problem for table in tables for problem in _unfit(table, request)]
    if unfitting:
        return AssessedBlocks(found=(*found, *unfitting), end=End.WRONG_DATA)
    made = {table.problem.name: (_assessed(table, request, team, watch), table.origin) for table in tables}
    return AssessedBlocks(made, found)


def _refused(request: AssessRequest) -> list[Diagnostic]:
    if not request.policy.protects:
        headline = "the policy protects nothing: it has no protect block to assess"
        return [diagnostic("SDC139", headline, FilePlace(str(request.source)))]
    names = request.blocks or list(request.policy.protects)
    if request.released.files or any(request.adjusts(name) for name in names):
        return []
    chain = request.policy.protects[names[0]].the(d.MethodChain)
    headline = f"experiments are for adjusted tables, and `{chain.engines[0].name}` adjusts nothing"
    return [diagnostic("SDC139", headline, chain.span, help="method cta, or --released with an adjusted table")]


def _read(request: AssessRequest) -> tuple[list[AdjustedTable], list[Diagnostic], End]:
    bound = bind(request, request.released.files.values())
    tables: list[AdjustedTable] = []
    found = list(bound.found)
    for problem in () if bound.wrong else bound.problems.values():
        pattern, problems = request.released.read(problem)
        found += problems
        if pattern is not None:
            origin = f"read from {', '.join(str(path) for path in request.released.of(problem).values())}"
            tables.append(AdjustedTable(problem, pattern.value, origin, request.time_limit))
    return tables, found, End.WRONG_DATA if has_errors(found) else End.DONE


def _protected(request: AssessRequest, preparing: Preparing) -> tuple[list[AdjustedTable], list[Diagnostic], End]:
    """Block by block: what one of them cannot be protected for is no reason to look at the others."""
    tables: list[AdjustedTable] = []
    found: list[Diagnostic] = []
    limit = request.time_limit
    for name in request.blocks:
        deadline = Deadline(limit)  # of this block: the others do not take its time
        making = None if limit is None else (1 - FOR_EXPERIMENTS) * limit
        prepared = preparing(writing_nothing(request, [name], time_limit=making))
        found += prepared.diagnostics
        if prepared.end is not End.DONE:
            return [], found, prepared.end
        for outcome in prepared.outcomes:
            assert outcome.pattern is not None
            left = None if limit is None else deadline.remaining
            tables.append(AdjustedTable(outcome.problem, outcome.pattern.value, f"made by {outcome.method}", left))
    return tables, found, End.DONE


def _unfit(table: AdjustedTable, request: AssessRequest) -> Iterator[Diagnostic]:
    why = unfit(table.problem, table.v)
    if why is not None:
        headline = f"there is nothing to undo in the table of `{table.problem.name}` ({table.origin}): {why}"
        place = next(iter(request.released.files.values()), request.source)
        yield diagnostic("SDC139", headline, FilePlace(str(place)), help="experiments are for adjusted tables")


def _assessed(table: AdjustedTable, request: AssessRequest, team: Team, watch: Watch | None) -> Assessment:
    protect = request.policy.protects[table.problem.name]
    said = stated(protect)
    experiments, options = said if said is not None else (tuple(EXPERIMENTS), stated_options(protect))
    return assess(
        table.problem,
        table.v,
        request.experiments or experiments,
        {**options, **request.options},
        request.seed,
        deadline=Deadline(table.time_left),
        progress=partial(watch.assessing, table.problem.name) if watch is not None else None,
        team=team,
    )
