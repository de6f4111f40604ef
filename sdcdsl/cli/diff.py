"""`sdcdsl diff`: what a change of policy means, statement by statement and cell by cell."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from sdcdsl.cli import exits
from sdcdsl.cli.data_options import DataOptions, given_options
from sdcdsl.cli.limits import Duration
from sdcdsl.cli.printing import echo, echo_json
from sdcdsl.cli.reading import read, refuse, say, tell, wants_colour
from sdcdsl.cli.revisions import is_revision, of_revision
from sdcdsl.diagnostics import Diagnostic, has_errors
from sdcdsl.diagnostics.diagnostic import for_reading
from sdcdsl.diagnostics.foreign import visible
from sdcdsl.diagnostics.render.json import as_json as as_json_of
from sdcdsl.policy.diff import Edit, Verdict, overall
from sdcdsl.policy.diff import diff as compare
from sdcdsl.policy.files import read_file
from sdcdsl.policy.read import read_policy, read_text
from sdcdsl.policy.resolve import Policy

NOTHING: dict[str, Any] = {"verdict": None, "edits": []}
_MARKS = {"added": "+", "removed": "-", "changed": "~"}
_COLOURS = {Verdict.TIGHTER: "green", Verdict.LOOSER: "red", Verdict.NEEDS_DATA: "yellow", Verdict.NEUTRAL: None}


@click.command()
@click.argument("policies", nargs=-1, required=True, metavar="OLD NEW")
@click.option("--cells", is_flag=True, help="Bind both policies to their data, and tell the effect cell by cell.")
@click.option("--protect", is_flag=True, help="Also run both, and compare the releases. Nothing is written.")
@click.option("--time-limit", type=Duration(), help="With --protect, for each method: 90s, 10min, 1h.")
@click.option("--all", "everything", is_flag=True, help="List every cell, not only the first of each list.")
@click.option("--driver", is_flag=True, help="Be called by git as a diff driver; exit with 0.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@given_options
def diff(
    policies: tuple[str, ...],
    cells: bool,
    protect: bool,
    time_limit: float | None,
    everything: bool,
    driver: bool,
    as_json: bool,
    given: DataOptions,
) -> None:
    """Compare two policies by what they require, statement by statement.

    Every change is called tighter, looser, neutral or "needs data" (only the cells can tell). Layout, comments and the
    order of declarations do not count. With --cells, which --data and --protect imply, the cells do tell: which become
    sensitive, whose levels rise or fall and by how much, who knows more, and with --protect what is published.

    OLD and NEW are files, or files in a revision: HEAD~1:turnover.sdc, as git writes it.

    Exit code 0: nothing changed; 7: something did; 1: a policy is wrong; 3: its data does not fit.
    """
    if driver:
        _drive(policies, given)
        return
    if len(policies) != 2:
        raise click.UsageError("two policies are compared: sdcdsl diff OLD NEW")
    old, new = policies
    if (cells or protect or given.instead) and (is_revision(old) or is_revision(new)):
        raise click.UsageError("--cells needs the data of both policies: check the revision out, and name the file")
    (before, wrong), (after, more) = _both(old, new, given)
    if has_errors(wrong + more):
        refuse(NOTHING, wrong + more, as_json, given.colour, exits.WRONG_POLICY)
    edits = compare(before, after)
    document: dict[str, Any] = {"verdict": overall(edits).value, "edits": [_as_json(e) for e in edits]}
    effect, changed = "", bool(edits)
    if cells or protect or given.instead:
        from sdcdsl.cli import diff_cells  # noqa: PLC0415
        from sdcdsl.cli.protect_watching import watched  # noqa: PLC0415
        from sdcdsl.pipeline.diff import changes as changes_of  # noqa: PLC0415

        inputs = diff_cells.inputs_of((before, Path(old)), (after, Path(new)), given)
        changes, found = changes_of(*inputs, watched("auto") if protect else None, time_limit=time_limit)
        if has_errors(found) and not changes:
            refuse(NOTHING, found, as_json, given.colour, exits.WRONG_DATA)
        if found and not as_json:
            tell(found, given.colour)
        document |= {"cells": diff_cells.document(changes), "diagnostics": [as_json_of(d) for d in for_reading(found)]}
        effect = diff_cells.text_of(changes, everything)
        changed |= any(one.changed for one in changes)
    code = exits.CHANGES if changed else exits.DONE
    if as_json:
        echo_json({**document, "exit": code})
    else:
        _print(edits, wants_colour(given.colour))
        if effect:
            echo(f"\n{effect}", nl=False)
    sys.exit(code)


_Read = tuple[Policy, list[Diagnostic]]


def _both(old: str, new: str, given: DataOptions) -> tuple[_Read, _Read]:
    """Both policies with the parameters that are set; one that only one of them declares is set there."""
    sides = [_read(name, given, given.settings) for name in (old, new)]
    declared = [policy.parameters for policy, _ in sides]
    for here, there in ((0, 1), (1, 0)):
        own = {name: text for name, text in given.settings.items() if name in declared[here]}
        if set(given.settings) - set(own) and all(n in own or n in declared[there] for n in given.settings):
            sides[here] = _read((old, new)[here], given, own)
    return sides[0], sides[1]


def _read(name: str, given: DataOptions, settings: Mapping[str, str]) -> _Read:
    if not is_revision(name):
        return read(Path(name), given.allow_outside, settings)
    with of_revision(name) as path:
        return read_policy(path, name, given.allow_outside, settings)


def _drive(words: tuple[str, ...], given: DataOptions) -> None:
    """As git calls a driver: PATH, then file, digest and mode of both sides. Used files are those of the work tree."""
    if len(words) not in (7, 9):
        raise click.UsageError(
            "git calls a diff driver with seven words: git config diff.sdc.command 'sdcdsl diff --driver'"
        )
    path, old, _, _, new, _, _ = words[:7]
    echo(visible(f"policy {path}"))
    if os.devnull in (old, new):
        echo("a new policy" if old == os.devnull else "the policy is gone")
        return
    sides = [_text_at(Path(name), Path(path), given) for name in (old, new)]
    if has_errors([d for _, found in sides for d in found]):
        for _, found in sides:
            say(found, "text", given.colour)
        return
    _print(compare(sides[0][0], sides[1][0]), wants_colour(given.colour))


def _text_at(file: Path, path: Path, given: DataOptions) -> tuple[Policy, list[Diagnostic]]:
    source, found = read_file(file, str(path))
    return (
        (Policy(), found) if source is None else read_text(source, path, given.allow_outside, settings=given.settings)
    )


def _as_json(edit: Edit) -> dict:
    return {
        "kind": edit.kind,
        "verdict": edit.verdict.value,
        "in": edit.where,
        "old": edit.old,
        "new": edit.new,
        "old_at": str(edit.old_span) if edit.old_span else None,
        "new_at": str(edit.new_span) if edit.new_span else None,
        "why": edit.why,
    }


def _print(edits: list[Edit], colour: bool) -> None:
    where = None
    for edit in edits:
        if edit.where != where:
            where = edit.where
            heading = visible(where)
            echo(click.style(heading, bold=True) if colour else heading, colour=True)
        verdict = f"{edit.verdict.value:<10}"
        if colour and _COLOURS[edit.verdict]:
            verdict = click.style(verdict, fg=_COLOURS[edit.verdict])
        old, new = (visible(text, lines=True) if text is not None else None for text in (edit.old, edit.new))
        text = new if old is None else old if new is None else f"{old}\n{' ' * 13}→ {new}"
        echo(f"  {verdict} {_MARKS[edit.kind]} {text}", colour=True)
        echo(f"{' ' * 15}({edit.why})")
    counts = {v: sum(e.verdict is v for e in edits) for v in Verdict}
    said = ", ".join(f"{n} {v.value}" for v, n in counts.items() if n)
    echo(f"{said} — together: {overall(edits).value}" if edits else "no change in meaning")
