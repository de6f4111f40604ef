"""`sdcdsl diff`: what a change of policy means."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from sdcdsl.cli import exits
from sdcdsl.cli.reading import colour_option, guarded, outside_option, read, say, wants_colour
from sdcdsl.diagnostics import has_errors
from sdcdsl.policy.diff import Edit, Verdict, overall
from sdcdsl.policy.diff import diff as compare

_MARKS = {"added": "+", "removed": "-", "changed": "~"}
_COLOURS = {Verdict.TIGHTER: "green", Verdict.LOOSER: "red", Verdict.NEEDS_DATA: "yellow", Verdict.NEUTRAL: None}


@click.command()
@click.argument("old", type=click.Path(dir_okay=False))
@click.argument("new", type=click.Path(dir_okay=False))
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@outside_option
@colour_option
def diff(old: str, new: str, as_json: bool, allow_outside: bool, colour: bool | None) -> None:
    """Compare two policies by what they ask for, statement by statement.

    Every change is called tighter, looser, neutral or "needs data" (only the cells can tell). Layout, comments and the
    order of declarations do not count. Exit code 0: nothing changed; 7: something did.
    """
    before, wrong = guarded(Path(old), lambda: read(Path(old), allow_outside))
    after, more = guarded(Path(new), lambda: read(Path(new), allow_outside))
    if has_errors(wrong + more):
        say(wrong + more, "text", colour)
        sys.exit(exits.WRONG_POLICY)
    edits = compare(before, after)
    if as_json:
        document = {"verdict": overall(edits).value, "edits": [_as_json(e) for e in edits]}
        click.echo(json.dumps(document, indent=2, ensure_ascii=False))
    else:
        _print(edits, wants_colour(colour))
    sys.exit(exits.CHANGES if edits else exits.DONE)


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
            click.echo(click.style(where, bold=True) if colour else where)
        verdict = f"{edit.verdict.value:<10}"
        if colour and _COLOURS[edit.verdict]:
            verdict = click.style(verdict, fg=_COLOURS[edit.verdict])
        text = edit.new if edit.old is None else edit.old if edit.new is None else f"{edit.old}\n{' ' * 13}→ {edit.new}"
        click.echo(f"  {verdict} {_MARKS[edit.kind]} {text}", color=True)
        click.echo(f"{' ' * 15}({edit.why})")
    counts = {v: sum(e.verdict is v for e in edits) for v in Verdict}
    said = ", ".join(f"{n} {v.value}" for v, n in counts.items() if n)
    click.echo(f"{said} — together: {overall(edits).value}" if edits else "no change in meaning")
