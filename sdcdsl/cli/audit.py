"""`sdcdsl audit`: attack a released table, ours or somebody else's."""

from __future__ import annotations

import datetime
import sys
from collections.abc import Callable
from pathlib import Path

import click

from sdcdsl.cli import exits
from sdcdsl.cli.plan import data_option, named_files, today_option
from sdcdsl.cli.reading import colour_option, guarded, outside_option, read, say
from sdcdsl.diagnostics import has_errors

FORMATS = ("text", "json", "csv")


def _published(command: Callable) -> Callable:
    """What is published beside the table, and how its file is to be read."""
    for option in reversed(
        [
            click.option("--base", type=float, help="Published: figures are rounded to multiples of this."),
            click.option("--deviation", type=float, help="Published: no figure is further than this from the truth."),
            click.option("--alpha", type=float, help="Published: no sensitive cell moved by more than this share."),
            click.option("--beta", type=float, help="Published: no other cell moved by more than this share."),
            click.option("--hidden", multiple=True, metavar="WORD", help="Another word for hidden cells."),
            click.option(
                "--absent",
                type=click.Choice(["error", "hidden", "zero"]),
                default="error",
                show_default=True,
                help="What a cell means that the file leaves out.",
            ),
            click.option(
                "--format",
                type=click.Choice(["csv", "argus", "sdctable", "jj"]),
                help="The format of the released files; recognised if not given.",
            ),
            click.option(
                "--column",
                multiple=True,
                metavar="NAME=COLUMN",
                help="The file's column for a dimension, value, low, high or status. May be repeated.",
            ),
        ]
    ):
        command = option(command)
    return command


@click.command()
@click.argument("file", type=click.Path())
@click.option(
    "--released",
    multiple=True,
    metavar="[TABLE=]FILE",
    help="The released table; once for each table of a policy that has several.",
)
@click.option("--block", metavar="NAME", help="Audit this protect block only.")
@_published
@click.option("--verdict-only", is_flag=True, help="Do not work out the intervals exactly: much faster.")
@click.option("--integer", is_flag=True, help="Attackers know that values are whole numbers.")
@click.option("--certificate", type=click.Path(dir_okay=False), help="Write a certificate that `verify` can check.")
@click.option("--jobs", type=click.IntRange(1), default=1, show_default=True, help="How many threads to use.")
@click.option("--output", type=click.Choice(FORMATS), default="text", show_default=True, help="How to print it.")
@data_option
@today_option
@outside_option
@colour_option
def audit(
    file: str,
    released: tuple[str, ...],
    block: str | None,
    verdict_only: bool,
    integer: bool,
    certificate: str | None,
    jobs: int,
    output: str,
    instead: tuple[str, ...],
    today: datetime.datetime | None,
    allow_outside: bool,
    colour: bool | None,
    **published,
) -> None:
    """Attack a released table: for every attacker and sensitive cell of a policy, how low and how high can the cell be
    driven, given what is published? FILE is a policy, or a JJ file whose cells u and m are hidden.

    Without --released, cells that the data marks as sensitive or hidden are taken as hidden.

    \b
    sdcdsl audit turnover.sdc --released turnover.csv
    sdcdsl audit pattern.jj --output json --certificate pattern.cert

    Exit code 0: all protected; 6: cells are exposed, or not proven to be protected; 1: the policy is wrong; 3: the
    data or the released table is wrong.
    """
    path = Path(file)
    policy, found = guarded(path, lambda: _policy(path, allow_outside))
    if has_errors(found):
        say(found, "text", colour)
        sys.exit(exits.WRONG_DATA if path.suffix.lower() == ".jj" else exits.WRONG_POLICY)
    from sdcdsl.cli.auditing import Request, audit_all, files_of, statements  # noqa: PLC0415

    day = today.date() if today is not None else datetime.date.today()
    if block is not None and block not in policy.protects:
        raise click.UsageError(f"the policy has no protect block `{block}`")
    request = Request(
        policy=policy,
        folder=path.parent,
        block=block,
        instead=named_files(instead, policy),
        day=day,
        allow_outside=allow_outside,
        released=files_of(released, policy, block),
        reading=statements(**published),
        exact=not verdict_only,
        integer=integer,
        certificate=Path(certificate) if certificate else None,
        jobs=jobs,
        source=path,
    )
    result, problems = audit_all(request)
    if result is None:
        say(problems, "json" if output == "json" else "text", colour)
        sys.exit(exits.WRONG_DATA)
    if problems:
        from sdcdsl.diagnostics.render import render  # noqa: PLC0415

        click.echo(render(problems, "text", False), nl=False, err=True)
    click.echo(result.render(output), nl=False)
    sys.exit(result.exit)


def _policy(path: Path, allow_outside: bool):
    """A policy file, or the policy that a JJ file stands for."""
    if path.suffix.lower() != ".jj":
        return read(path, allow_outside)
    from sdcdsl.diagnostics import Source  # noqa: PLC0415
    from sdcdsl.policy.read import read_text  # noqa: PLC0415

    name = path.name.replace("\\", "\\\\").replace('"', '\\"')
    text = f'sdc 1\npolicy "{name}"\n\ntable cells {{\n  jj "{name}"\n}}\n\nprotect cells {{\n  method csp\n}}\n'
    return read_text(Source(str(path), text), path, allow_outside)
