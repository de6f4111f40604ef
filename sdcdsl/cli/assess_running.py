"""What `assess` does behind its options: make or read the adjusted table, then attack it."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from sdcdsl.bind.file_locations import RecordedLocations
from sdcdsl.bind.known_codes import unknown_codes
from sdcdsl.bind.problem import TableProblem
from sdcdsl.bind.protect import bind_protect
from sdcdsl.bind.tables import Binding
from sdcdsl.cli import exits
from sdcdsl.cli.progress import counting
from sdcdsl.cli.protect_display import display
from sdcdsl.cli.protect_output import EXITS
from sdcdsl.cli.protect_watching import Watching
from sdcdsl.deadline import Deadline
from sdcdsl.diagnostics import Diagnostic, FilePlace, diagnostic, has_errors
from sdcdsl.executing import Team
from sdcdsl.outcome import End
from sdcdsl.pipeline.protect import prepare
from sdcdsl.pipeline.request import Request as Protecting
from sdcdsl.policy import document as d
from sdcdsl.policy.resolve import Policy
from sdcdsl.released import read_release
from sdcdsl.report.journal import settle_around
from sdcdsl.risk import Assessment, assess, stated, unfit
from sdcdsl.risk.assess_statements import stated_options
from sdcdsl.vocabulary.methods import EXPERIMENTS, METHODS


@dataclass(frozen=True)
class Request:
    policy: Policy
    source: Path
    places: RecordedLocations
    day: datetime.date
    block: str | None
    released: dict[str, Path]  # by table
    reading: dict[str, Any]  # how `read_release` is to read them
    experiments: tuple[str, ...] | None
    options: dict[str, Any]  # that win over those of the policy
    seed: int
    time_limit: float | None

    @property
    def blocks(self) -> list[str]:
        """The block asked for; else all, or all that adjust their table if it is still to be made."""
        if self.block is not None:
            return [self.block]
        names = list(self.policy.protects)
        return names if self.released else [name for name in names if self.adjusts(name)]

    def adjusts(self, name: str) -> bool:
        engines = self.policy.protects[name].the(d.MethodChain).engines
        methods = [METHODS.get(engine.name) for engine in engines]
        return any(method is not None and method.adjusts for method in methods)


@dataclass(frozen=True, eq=False)
class Adjusted:
    """One table on its way to the experiments."""

    problem: TableProblem
    v: np.ndarray
    origin: str  # "made by cta", "read from released.csv"


@dataclass(frozen=True, eq=False)
class Made:
    blocks: dict[str, tuple[Assessment, str]] = field(default_factory=dict)  # with the origin of the table
    found: tuple[Diagnostic, ...] = ()
    exit: int = exits.DONE


def assess_all(request: Request, team: Team) -> Made:
    """Every block, or the one that was asked for; no experiment is made if something is wrong with one."""
    refused = _refused(request)
    if refused:
        return Made(found=tuple(refused), exit=exits.WRONG_POLICY)
    tables, found, code = _read(request) if request.released else _protected(request, team)
    if code != exits.DONE:
        return Made(found=tuple(found), exit=code)
    unfitting = [problem for table in tables for problem in _unfit(table, request)]
    if unfitting:
        return Made(found=(*found, *unfitting), exit=exits.WRONG_DATA)
    return Made({t.problem.name: (_assessed(t, request, team), t.origin) for t in tables}, tuple(found))


def _refused(request: Request) -> list[Diagnostic]:
    if not request.policy.protects:
        headline = "the policy protects nothing: it has no protect block to assess"
        return [diagnostic("SDC139", headline, FilePlace(str(request.source)))]
    names = request.blocks or list(request.policy.protects)
    if request.released or any(request.adjusts(name) for name in names):
        return []
    chain = request.policy.protects[names[0]].the(d.MethodChain)
    headline = f"experiments are for adjusted tables, and `{chain.engines[0].name}` adjusts nothing"
    return [diagnostic("SDC139", headline, chain.span, help="method cta, or --released with an adjusted table")]


def _read(request: Request) -> tuple[list[Adjusted], list[Diagnostic], int]:
    binding = Binding(request.policy, request.places, request.day)
    tables: list[Adjusted] = []
    found = settle_around((request.source, *request.released.values()))
    if has_errors(found):
        return [], found, exits.WRONG_DATA
    for name in request.blocks:
        problem, problems = bind_protect(binding, request.policy.protects[name])
        found += problems
        if problem is None or has_errors(problems):
            continue
        mine = {t.name: request.released[t.name] for t in problem.tables if t.name in request.released}
        pattern, problems = read_release(problem, mine, **request.reading)
        found += problems
        if pattern is not None:
            origin = f"read from {', '.join(str(path) for path in mine.values())}"
            tables.append(Adjusted(problem, pattern.value, origin))
    found += unknown_codes(request.policy, binding.dimensions)
    found = list(dict.fromkeys(binding.diagnostics + found))
    return tables, found, exits.WRONG_DATA if has_errors(found) else exits.DONE


def _protected(request: Request, team: Team) -> tuple[list[Adjusted], list[Diagnostic], int]:
    tables: list[Adjusted] = []
    found: list[Diagnostic] = []
    policy, folder = _only_protecting(request.policy), request.source.parent
    watching = Watching(display("auto", as_document=False))
    with watching:
        for name in request.blocks:
            protecting = Protecting(policy, request.source, request.places, request.day, folder, name)
            prepared = watching.run(lambda asked=protecting: prepare(asked, watching, team))
            found += prepared.diagnostics
            if prepared.end is not End.DONE:
                return [], list(dict.fromkeys(found)), EXITS[prepared.end]
            for outcome in prepared.outcomes:
                assert outcome.pattern is not None
                tables.append(Adjusted(outcome.problem, outcome.pattern.value, f"made by {outcome.method}"))
    return tables, list(dict.fromkeys(found)), exits.DONE


def _only_protecting(policy: Policy) -> Policy:
    """Without what `protect` does beside: experiments, which are made here, and files, which nobody asked for."""
    blocks = {
        name: replace(block, statements=tuple(s for s in block.statements if not isinstance(s, d.Assess | d.Release)))
        for name, block in policy.protects.items()
    }
    return replace(policy, blocks={**policy.blocks, "protect": blocks})


def _unfit(table: Adjusted, request: Request) -> Iterator[Diagnostic]:
    why = unfit(table.problem, table.v)
    if why is not None:
        headline = f"there is nothing to undo in the table of `{table.problem.name}` ({table.origin}): {why}"
        place = next(iter(request.released.values()), request.source)
        yield diagnostic("SDC139", headline, FilePlace(str(place)), help="experiments are for adjusted tables")


def _assessed(table: Adjusted, request: Request, team: Team) -> Assessment:
    protect = request.policy.protects[table.problem.name]
    said = stated(protect)
    experiments, options = said if said is not None else (tuple(EXPERIMENTS), stated_options(protect))
    with counting(f"attacking {table.problem.name}", "attackers") as progress:
        return assess(
            table.problem,
            table.v,
            request.experiments or experiments,
            {**options, **request.options},
            request.seed,
            deadline=Deadline(request.time_limit),
            progress=progress,
            team=team,
        )
