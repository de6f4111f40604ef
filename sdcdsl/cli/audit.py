"""`sdcdsl audit`: attack a released table, ours or somebody else's."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from sdcdsl.cli import exits
from sdcdsl.cli.data_options import DataOptions, given_options
from sdcdsl.cli.limits import committed, committing, limited
from sdcdsl.cli.printing import echo, echo_json
from sdcdsl.cli.reading import json_option, known_block, read_any, refuse, tell
from sdcdsl.cli.workers import workers, workers_options
from sdcdsl.diagnostics import has_errors
from sdcdsl.policy.read import is_jj

FORMATS = ("text", "json", "csv")
RELEASED = ("csv", "parquet", "sdmx", "argus", "sdctable", "jj", "excel", "cross_table", "pivot", "code_value")
NOTHING = {"verdict": None, "blocks": [], "pairs": [], "revealed": [], "pinned_sums": [], "certificate": None}


class Share(click.ParamType):
    """`0.1` or `10%`. What is above 1 must have the sign, unless it is a factor: 5 is mostly meant to be 5 %."""

    name = "share"

    def __init__(self, factor: bool = False):
        self.factor = factor

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        text = str(value).strip()
        try:
            found = float(text[:-1]) / 100 if text.endswith("%") else float(text)
        except ValueError:
            self.fail(f"{value} is neither a number nor a percentage", param, ctx)
        if not found >= 0:
            self.fail(f"{value} is not a share: 0.05 or 5%", param, ctx)
        if found > 1 and not text.endswith("%") and not self.factor:
            self.fail(f"{value} would be {100 * found:g} %: write {text}%, or {found / 100:g}", param, ctx)
        return found


def published_options(command: Callable) -> Callable:
    """What is published beside the table, and how its file is to be read."""
    absent = ["error", "hidden", "zero"]
    for option in reversed(
        [
            click.option("--base", type=float, help="Published with it: figures are multiples of this."),
            click.option("--deviation", type=float, help="Published with it: no figure is further off than this."),
            click.option("--alpha", type=Share(), help="Published with it: no sensitive cell moved by a larger share."),
            click.option("--beta", type=Share(), help="Published with it: no other cell moved by a larger share."),
            click.option("--hidden", multiple=True, metavar="WORD", help="One more word that means hidden."),
            click.option(
                "--absent", type=click.Choice(absent), help="What a cell means that is left out; else: error."
            ),
            click.option("--format", type=click.Choice(RELEASED), help="Of the released files; else: recognised."),
            click.option(
                "--column",
                multiple=True,
                metavar="NAME=COLUMN",
                help="The column of a dimension, or of value, low, high, status, base, deviation.",
            ),
        ]
    ):
        command = option(command)
    return command


@click.command()
@click.argument("file", type=click.Path())
@click.option("--released", multiple=True, metavar="[TABLE=]FILE", help="The released table; one for each table.")
@click.option("--block", metavar="NAME", help="Audit this protect block only.")
@published_options
@click.option("--verdict-only", is_flag=True, help="Faster: no interval is worked out further than its verdict needs.")
@click.option(
    "--integer/--no-integer",
    default=None,
    help="Attackers know that values are whole numbers, as they do of counts and `integer` tables.",
)
@click.option(
    "--certificate",
    type=click.Path(dir_okay=False),
    metavar="PATH",
    help="Write the proofs to this file, for `sdcdsl verify`. It contains the true values.",
)
@workers_options("How many processes to work in")
@click.option("--output", type=click.Choice(FORMATS), default="text", show_default=True, help="How to print it.")
@json_option
@given_options
@limited(NOTHING, time="--time-limit")
def audit(
    file: str,
    released: tuple[str, ...],
    block: str | None,
    verdict_only: bool,
    integer: bool | None,
    certificate: str | None,
    jobs: int | None,
    cluster: str | None,
    output: str,
    as_document: bool,
    given: DataOptions,
    **published,
) -> None:
    """Attack a released table: for every attacker and sensitive cell of a policy, how low and how high can the cell be,
    given what is published? FILE is a policy, or a JJ file.

    Without --released, cells that are sensitive or already hidden count as hidden, all others as published.

    \b
      sdcdsl audit turnover.sdc --released turnover.csv
      sdcdsl audit linked.sdc --released by_size=size.csv --released by_region=region.csv
      sdcdsl audit pattern.jj --output csv --certificate pattern.cert

    Exit code 0: all protected; 6: pairs are exposed, or not proven to be protected; 1: the policy is wrong; 3: the data
    or the released table is wrong. What is printed is as confidential as the data.
    """
    output = "json" if as_document else output
    stream = sys.stderr if output == "csv" else sys.stdout  # who asked for a table gets no text in its place
    path = Path(file)
    policy, found = read_any(path, given.allow_outside, settings=given.settings)
    if has_errors(found):
        code = exits.WRONG_DATA if is_jj(path) else exits.WRONG_POLICY
        refuse(NOTHING, found, output == "json", given.colour, code, stream)
    known_block(policy, block)
    from sdcdsl.cli.audit_files import released_tables  # noqa: PLC0415
    from sdcdsl.cli.audit_output import AuditReport  # noqa: PLC0415
    from sdcdsl.cli.progress import Counting  # noqa: PLC0415
    from sdcdsl.pipeline.audit import AuditRequest, audit_blocks, certify  # noqa: PLC0415

    tables = released_tables(released, policy, block, **published)
    request = AuditRequest(
        **given.inputs(policy, path, block),
        released=tables,
        exact=not verdict_only,
        integer=integer,
        certificate=Path(certificate) if certificate else None,
    )
    with workers(jobs, cluster) as team, Counting() as watch:
        audited = audit_blocks(request, team, watch)
    committing()
    problems = certify(audited, request) if certificate is not None and audited.audits else []
    made = certificate if audited.audits and not problems else None
    report = AuditReport(audited, bool(tables.files), made, problems)
    if made is not None:
        committed(report.exit)
    if not audited.audits and output != "json":
        refuse(NOTHING, report.found, output == "json", given.colour, report.exit, stream)
    if report.found and output != "json":
        tell(report.found, given.colour)
    if output == "json":
        echo_json(report.document())
    else:
        echo(report.render(output), nl=False)
    sys.exit(report.exit)
