"""What a method is required: its options as plain values and arrays, its deadline, last period's cells."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from sdcdsl.bind.option_cells import engine_options
from sdcdsl.bind.problem import TableProblem
from sdcdsl.bind.record_keys import without_keys
from sdcdsl.bind.sense_keys import with_keys
from sdcdsl.deadline import Deadline
from sdcdsl.diagnostics import Diagnostic
from sdcdsl.executing import SERIAL, Team
from sdcdsl.methods.checkpoint import Checkpointer
from sdcdsl.methods.result import Progress, SolveContext
from sdcdsl.pipeline.noise import ptable_of
from sdcdsl.pipeline.request import ProtectRequest
from sdcdsl.policy import document as d
from sdcdsl.policy.meaning import files_by_table
from sdcdsl.released.previous import read_previous
from sdcdsl.vocabulary.methods import METHODS

# What holds for a cell that no statement of an option speaks of.
_UNSAID = {"min_width": 0.0, "cap_width": np.inf}


@dataclass(frozen=True, eq=False)
class Plan:
    """One method of a chain with everything it needs beside the problem and a deadline."""

    engine: d.Engine
    options: dict[str, Any]
    before: np.ndarray | None = None  # bool [cell]
    previous: tuple[str, ...] = ()  # where that stands


def plan_of(
    engine: d.Engine, protect: d.Block, problem: TableProblem, request: ProtectRequest
) -> tuple[Plan, list[Diagnostic]]:
    options, found = _options(engine, problem, request)
    if not options.get("previous"):
        return Plan(engine, options), found
    said = next(o for o in engine.options if o.name == "previous")
    before, files, problems = _previous(options["previous"], said, protect, problem, request)
    return Plan(engine, options, before, files), [*found, *problems]


def replanned(plan: Plan, problem: TableProblem, request: ProtectRequest) -> Plan:
    """The same for the problem with further sums of cells: nobody published them in the last period."""
    options, _ = _options(plan.engine, problem, request)
    before = plan.before
    if before is not None:
        before = np.append(before, np.zeros(problem.n - len(before), dtype=bool))
    return replace(plan, options=options, before=before)


def _options(
    engine: d.Engine, problem: TableProblem, request: ProtectRequest
) -> tuple[dict[str, Any], list[Diagnostic]]:
    method = METHODS.get(engine.name)
    assert method is not None, engine.name  # the policy passed the checks
    options, found = engine_options(engine, method.options, problem)
    for name, otherwise in _UNSAID.items():
        if isinstance(options.get(name), np.ndarray):
            options[name] = np.where(np.isnan(options[name]), otherwise, options[name])
    if isinstance(options.get("sense"), np.ndarray):
        span = next(o.span for o in engine.options if o.name == "sense")
        options["sense"], problems = with_keys(problem, options["sense"], span)
        found += problems
    if method.random_noise:
        options["ptable"], problems = ptable_of(engine, options, request.places)
        found += [*problems, *without_keys(problem, engine.span)]
    options |= {name: value for name, value in request.instead.items() if name in options}
    return options, found


def _previous(
    path: str, said: d.Option, protect: d.Block, problem: TableProblem, request: ProtectRequest
) -> tuple[np.ndarray | None, tuple[str, ...], list[Diagnostic]]:
    files: dict[str, Path] = {}
    found: list[Diagnostic] = []
    paths = files_by_table(path, protect.tables)
    for table, name in paths.items():
        place, problems = request.places.find(f"previous {table}", name, said.span)
        found += [replace(problem, help=None) for problem in problems]
        if place is not None:
            files[table] = place
    if found:
        return None, (), found
    before, found = read_previous(problem, files)
    return before, tuple(paths.values()), found


def context_of(
    plan: Plan,
    seed: int,
    tell: Callable[[Progress], None],
    team: Team = SERIAL,
    checkpointer: Checkpointer | None = None,
    deadline: Deadline | None = None,
) -> SolveContext:
    """Without a deadline one starts now."""
    deadline = deadline or Deadline(plan.options.get("time_limit"))
    return SolveContext(plan.options, deadline, seed, plan.before, tell, team, checkpointer or Checkpointer())
