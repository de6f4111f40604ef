"""`sdcdsl plan`: the policy meets its data; everything is counted, nothing is solved."""

from __future__ import annotations

import datetime
import json
import sys
from pathlib import Path

import click

from sdcdsl.cli import exits
from sdcdsl.cli.limits import committing, limited
from sdcdsl.cli.reading import colour_option, guarded, outside_option, read, say
from sdcdsl.diagnostics import has_errors

data_option = click.option(
    "--data",
    "instead",
    multiple=True,
    metavar="NAME=PATH",
    help="Read data, table, dimension or DIMENSION.TREE from another file than the policy says. May be repeated.",
)
today_option = click.option(
    "--today", type=click.DateTime(["%Y-%m-%d"]), help="The day to judge waivers by; today if not given."
)


@click.command()
@click.argument("file", type=click.Path())
@data_option
@today_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@outside_option
@colour_option
@limited({"blocks": []}, time="--time-limit")
def plan(
    file: str,
    instead: tuple[str, ...],
    today: datetime.datetime | None,
    as_json: bool,
    allow_outside: bool,
    colour: bool | None,
) -> None:
    """Bind a policy to its data and say what protecting it would mean: cells, relations, sensitive cells by rule and
    table, attackers, sizes of the models, memory, files that would be written. Solves nothing, writes nothing.

    Exit code 1: the policy is wrong; 3: the data does not fit it.
    """
    path = Path(file)
    policy, found = guarded(path, lambda: read(path, allow_outside))
    if has_errors(found):
        say(found, "text", colour)
        sys.exit(exits.WRONG_POLICY)
    from sdcdsl.cli.planning import as_document, as_text, bind_all  # noqa: PLC0415

    day = today.date() if today is not None else datetime.date.today()
    blocks, problems = bind_all(policy, path.parent, named_files(instead, policy), day, allow_outside)
    committing()
    if as_json:
        click.echo(json.dumps(as_document(policy, blocks, problems), indent=2, ensure_ascii=False))
    else:
        say(problems, "text", colour)
        if not has_errors(problems):
            click.echo(as_text(policy, blocks), nl=False)
    sys.exit(exits.WRONG_DATA if has_errors(problems) else exits.DONE)


def _named_trees(dimension) -> list[str]:
    from sdcdsl.policy.document import HierarchyFile  # noqa: PLC0415

    return [statement.name for statement in dimension.all(HierarchyFile) if statement.name]


def named_files(instead: tuple[str, ...], policy) -> dict[str, Path]:
    from sdcdsl.diagnostics import did_you_mean  # noqa: PLC0415

    out = {}
    known = [name for kind in ("data", "dimension", "table") for name in policy.blocks[kind]]
    known += [f"{name}.{tree}" for name, block in policy.dimensions.items() for tree in _named_trees(block)]
    for given in instead:
        name, equals, path = given.partition("=")
        if not equals or not path:
            raise click.UsageError(f"--data takes NAME=PATH, not {given}")
        if name not in known:
            raise click.UsageError(
                f"the policy has no data, dimension or table `{name}`. {did_you_mean(name, known)}".strip()
            )
        out[name] = Path(path)
    return out
