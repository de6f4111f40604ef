"""`sdcdsl plan`: the policy meets its data; everything is counted, nothing is solved."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from sdcdsl.cli import exits
from sdcdsl.cli.data_options import DataOptions, given_options
from sdcdsl.cli.limits import committing, limited
from sdcdsl.cli.printing import echo, echo_json
from sdcdsl.cli.reading import read, say, say_document
from sdcdsl.diagnostics import has_errors


@click.command()
@click.argument("file", type=click.Path())
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@given_options
@limited({"title": None, "blocks": []}, time="--time-limit")
def plan(
    file: str,
    as_json: bool,
    given: DataOptions,
) -> None:
    """Bind a policy to its data and say what protecting it would mean: cells, relations, sensitive cells by rule and
    table, attackers, sizes of the models, memory, files that would be written. Solves nothing, writes nothing.

    Exit code 1: the policy is wrong; 3: the data does not fit it.
    """
    path = Path(file)
    policy, found = read(path, given.allow_outside, given.settings)
    if has_errors(found):
        if as_json:
            say_document({"title": None, "blocks": []}, found, exits.WRONG_POLICY)
        else:
            say(found, "text", given.colour)
        sys.exit(exits.WRONG_POLICY)
    from sdcdsl.cli.plan_output import as_document, as_text, exit_code  # noqa: PLC0415
    from sdcdsl.pipeline.plan import plan as made_plan  # noqa: PLC0415
    from sdcdsl.pipeline.request import Inputs  # noqa: PLC0415

    made = made_plan(Inputs(**given.inputs(policy, path)))
    committing()
    if as_json:
        echo_json(as_document(made))
    else:
        say(list(made.found), "text", given.colour)
        if not has_errors(made.found):
            echo(as_text(made), nl=False)
    sys.exit(exit_code(made))
