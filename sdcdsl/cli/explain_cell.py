"""What `explain FILE --cell …` does: bind, find the cells, read or make the release, and explain."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import click

from sdcdsl.bind.file_locations import RecordedLocations
from sdcdsl.bind.problem import TableProblem
from sdcdsl.bind.protect import bind_protect
from sdcdsl.bind.tables import Binding
from sdcdsl.cli import exits
from sdcdsl.cli.audit_files import released_files, statements
from sdcdsl.cli.explain_document import document
from sdcdsl.cli.explain_text import text_of
from sdcdsl.cli.given import named_files
from sdcdsl.cli.printing import echo, echo_json
from sdcdsl.cli.reading import guarded, is_jj, read_any, tell, wants_colour
from sdcdsl.diagnostics import Diagnostic, did_you_mean, has_errors
from sdcdsl.diagnostics.diagnostic import for_reading
from sdcdsl.diagnostics.render import render
from sdcdsl.diagnostics.render.json import as_json
from sdcdsl.pattern import Pattern
from sdcdsl.pipeline.cell_names import find_cells, parse_cell
from sdcdsl.pipeline.explain import Explanation, explain
from sdcdsl.policy import document as d
from sdcdsl.policy.resolve import Policy
from sdcdsl.released import read_release
from sdcdsl.report.journal import settle_around


@dataclass(frozen=True)
class Asked:
    """The options of one call."""

    path: Path
    cells: tuple[str, ...]
    released: tuple[str, ...]
    block: str | None
    instead: tuple[str, ...]
    day: datetime.date
    allow_outside: bool
    limits: Mapping[str, Any]
    published: Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Release:
    """What a block publishes, and who says so; without a pattern nothing was found."""

    problem: TableProblem
    pattern: Pattern | None
    method: str = ""
    files: Mapping[str, Path] = field(default_factory=dict)  # by table

    def by(self, cell: int) -> str:
        """The method, or the files of the tables that have the cell."""
        tables = [view.table for view in self.problem.views if (view.cells == cell).any()]
        return self.method or ", ".join(dict.fromkeys(str(self.files[t]) for t in tables if t in self.files))


def explain_cells(asked: Asked, as_document: bool, colour: bool | None) -> int:
    """Prints the explanations, or what is in their way; gives the exit code."""
    policy, found = guarded(asked.path, lambda: read_any(asked.path, asked.allow_outside))
    if has_errors(found):
        missing = is_jj(asked.path) or any(one.code == "SDC302" for one in found)
        return _refuse(found, as_document, colour, exits.WRONG_DATA if missing else exits.WRONG_POLICY)
    if asked.block is not None and asked.block not in policy.protects:
        near = did_you_mean(asked.block, policy.protects)
        raise click.UsageError(f"the policy has no protect block `{asked.block}`. {near}".strip())
    names, found = _parsed(asked.cells)
    if found:
        return _refuse(found, as_document, colour, exits.USAGE)
    files = released_files(asked.released, policy, asked.block)
    reading = statements(policy, bool(files), **asked.published)
    places = RecordedLocations(asked.path.parent, named_files(asked.instead, policy), asked.allow_outside)
    problems, found = _bound(policy, asked, places)
    if has_errors(found):
        return _refuse(found, as_document, colour, exits.WRONG_DATA)
    cells, wrong = find_cells(names, problems)
    if wrong:
        return _refuse(wrong, as_document, colour, exits.USAGE)
    chosen = {name: problems[name] for name in problems if name in cells}
    if files:
        releases, found = _read(chosen, files, reading)
        code = exits.WRONG_DATA if has_errors(found) else exits.DONE
    else:
        releases, found, code = _made(policy, asked, places, list(chosen), quiet=as_document)
    if not releases:
        return _refuse(found, as_document, colour, code)
    made = [
        explain(release.problem, cell, policy, release.pattern, release.by(cell))
        for name, release in releases.items()
        for cell in cells[name]
    ]
    _show(made, found, policy, code, as_document, colour)
    return code


def _parsed(cells: Iterable[str]) -> tuple[list, list[Diagnostic]]:
    names, found = [], []
    for text in cells:
        name, problems = parse_cell(text)
        found += problems
        names += [name] if name is not None else []
    return names, found


def _bound(policy: Policy, asked: Asked, places: RecordedLocations) -> tuple[dict[str, TableProblem], list[Diagnostic]]:
    binding = Binding(policy, places, asked.day)
    out: dict[str, TableProblem] = {}
    found: list[Diagnostic] = []
    for name in [asked.block] if asked.block is not None else policy.protects:
        problem, problems = bind_protect(binding, policy.protects[name])
        found += problems
        if problem is not None:
            out[name] = problem
    return out, list(dict.fromkeys(binding.diagnostics + found))


def _read(
    problems: Mapping[str, TableProblem], files: Mapping[str, Path], reading: Mapping[str, Any]
) -> tuple[dict[str, Release], list[Diagnostic]]:
    """What the given files say of the blocks that have the cells."""
    out: dict[str, Release] = {}
    found = settle_around(files.values())
    if has_errors(found):
        return {}, found
    for name, problem in problems.items():
        mine = {t.name: files[t.name] for t in problem.tables if t.name in files}
        pattern, wrong = read_release(problem, mine, **reading)
        found += wrong
        if pattern is not None:
            out[name] = Release(problem, pattern, files=mine)
    return ({} if has_errors(found) else out), found


def _made(
    policy: Policy, asked: Asked, places: RecordedLocations, blocks: list[str], quiet: bool
) -> tuple[dict[str, Release], list[Diagnostic], int]:
    """The release that `protect` would make of these blocks."""
    from sdcdsl.cli.protect_display import display  # noqa: PLC0415
    from sdcdsl.cli.protect_output import EXITS  # noqa: PLC0415
    from sdcdsl.cli.protect_watching import Watching  # noqa: PLC0415
    from sdcdsl.pipeline.protect import prepare  # noqa: PLC0415
    from sdcdsl.pipeline.request import Request  # noqa: PLC0415

    chosen = {name: unwritten(policy.protects[name]) for name in blocks}
    request = Request(
        policy=replace(policy, blocks={**policy.blocks, "protect": chosen}),
        source=asked.path,
        places=places,
        day=asked.day,
        folder=asked.path.parent,
        instead=asked.limits,
    )
    watching = Watching(display("none" if quiet else "auto", False))
    with watching:
        prepared = watching.run(lambda: prepare(request, watching))
    out = {one.name: Release(one.problem, one.pattern, one.method if one.attempts else "") for one in prepared.outcomes}
    return out, prepared.diagnostics, EXITS[prepared.end]


def unwritten(block: d.Block) -> d.Block:
    """Nothing is written here, so what could not be written does not matter."""
    kept = tuple(s for s in block.statements if not isinstance(s, d.Release))
    return d.Block(block.kind, block.name, kept, block.tables, block.override, span=block.span, heading=block.heading)


# ---- output ----------------------------------------------------------------------------------------


def _show(
    made: list[Explanation],
    found: list[Diagnostic],
    policy: Policy,
    code: int,
    as_document: bool,
    colour: bool | None,
) -> None:
    if as_document:
        out = {"cells": [document(one) for one in made], "diagnostics": [as_json(x) for x in for_reading(found)]}
        echo_json({**out, "exit": code})
        return
    if found:
        tell(found, colour)
    echo("\n".join(text_of(one, policy) for one in made), nl=False)


def _refuse(found: Iterable[Diagnostic], as_document: bool, colour: bool | None, code: int) -> int:
    """Nothing could be explained."""
    listed = for_reading(found)
    if as_document:
        out = {"cells": [], "diagnostics": [as_json(x) for x in listed], "exit": code}
        echo_json(out)
    else:
        echo(render(listed, "text", wants_colour(colour)), nl=False, colour=True)
    return code
