"""`sdcdsl show`: the value between two stages."""

from __future__ import annotations

import datetime
import sys
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import click

from sdcdsl.cli import exits
from sdcdsl.cli.printing import echo, echo_json
from sdcdsl.cli.reading import colour_option, json_option, outside_option, read, say, say_document, set_option
from sdcdsl.diagnostics import Span, has_errors
from sdcdsl.syntax.tree import outline


@click.command()
@click.argument("file")
@click.option(
    "--stage", type=click.Choice(["tree", "policy"]), default="policy", show_default=True, help="Which stage to show."
)
@click.option("--model", is_flag=True, help="Show the model of each protect block instead; this reads the data.")
@json_option
@set_option
@outside_option
@colour_option
def show(
    file: str,
    stage: str,
    model: bool,
    as_document: bool,
    settings: Mapping[str, str],
    allow_outside: bool,
    colour: bool | None,
) -> None:
    """Print what the program understood: the syntax tree, the resolved policy as JSON, or the optimisation models.

    In the policy, files that are used and overrides are worked in, and every statement says which line it comes from.
    A model is shown with the formulas of its paper, what it minimises, its variables, and of every family of
    constraints how many there are and one of them. It is as confidential as the data.
    """
    if model:
        if as_document or stage != "policy":
            raise click.UsageError("--model is text, and a stage of its own: leave out --json and --stage")
        _show_models(Path(file), settings, allow_outside, colour)
    if as_document and stage == "tree":
        raise click.UsageError("the tree is no JSON document: --json is for --stage policy")
    policy, found = read(Path(file), allow_outside, settings)
    if stage == "tree" and policy.files:
        echo(outline(policy.files[-1].parsed), nl=False)
    elif stage == "policy" and not has_errors(found):
        document = {
            "title": policy.title,
            "seed": policy.seed,
            "parameters": {name: p.text for name, p in policy.parameters.items()},
            "blocks": {kind: [_plain(b) for b in blocks.values()] for kind, blocks in policy.blocks.items()},
            "facts": [_plain(f) for f in policy.facts],
        }
        if as_document:
            say_document(document, found, exits.DONE)
            sys.exit(exits.DONE)
        echo_json(document)
    elif as_document:
        say_document(
            {"title": None, "seed": None, "parameters": {}, "blocks": {}, "facts": []}, found, exits.WRONG_POLICY
        )
        sys.exit(exits.WRONG_POLICY)
    say(found, "text", colour) if stage == "policy" else None
    sys.exit(exits.WRONG_POLICY if has_errors(found) else exits.DONE)


def _show_models(path: Path, settings: Mapping[str, str], allow_outside: bool, colour: bool | None) -> None:
    policy, found = read(path, allow_outside, settings)
    if has_errors(found):
        say(found, "text", colour)
        sys.exit(exits.WRONG_POLICY)
    from sdcdsl.bind.file_locations import RecordedLocations  # noqa: PLC0415  the other stages read no data
    from sdcdsl.pipeline.request import Inputs  # noqa: PLC0415
    from sdcdsl.pipeline.show_model import shown_models  # noqa: PLC0415

    places = RecordedLocations(path.parent, {}, allow_outside)
    text, more = shown_models(Inputs(policy, path, places, datetime.date.today()))
    echo(text, nl=False)
    say([*found, *more], "text", colour)
    sys.exit(exits.WRONG_DATA if has_errors(more) else exits.DONE)


def _plain(value: Any) -> Any:
    if isinstance(value, Span):
        return str(value)
    if isinstance(value, tuple):
        return [_plain(v) for v in value]
    if is_dataclass(value) and not isinstance(value, type):
        out: dict[str, Any] = {"is": type(value).__name__}
        for f in fields(value):
            inner = getattr(value, f.name)
            if f.name == "heading" or inner is None or inner in ((), "", False):
                continue
            out["from" if f.name == "span" else f.name] = _plain(inner)
        return out
    return value
