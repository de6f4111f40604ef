"""`sdcdsl protect`: from a policy and its data to released files, through a method and the audit."""

from __future__ import annotations

import datetime
import json
import re
import sys
from pathlib import Path
from typing import Any

import click

from sdcdsl.cli import exits
from sdcdsl.cli.audit import Share
from sdcdsl.cli.plan import data_option, named_files, today_option
from sdcdsl.cli.reading import colour_option, guarded, is_jj, outside_option, read_any, wants_colour
from sdcdsl.diagnostics import Diagnostic, did_you_mean, has_errors
from sdcdsl.diagnostics.diagnostic import for_reading
from sdcdsl.diagnostics.render import render
from sdcdsl.diagnostics.render.json import as_json

_UNITS = {"": 1, "s": 1, "min": 60, "m": 60, "h": 3600}


class Duration(click.ParamType):
    """`90`, `90s`, `10 min`, `1h`."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        if isinstance(value, float):
            return value
        found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(s|min|m|h|)\s*", str(value))
        if found is None:
            self.fail(f"{value} is no time: 90s, 10min, 1h", param, ctx)
        return float(found[1]) * _UNITS[found[2]]


@click.command()
@click.argument("file", type=click.Path())
@click.option("--block", metavar="NAME", help="Protect this block only.")
@click.option("--method", metavar="NAME", help="For a JJ file: the method; csp if not given.")
@click.option("--time-limit", type=Duration(), help="For each method, instead of the policy's: 90s, 10min, 1h.")
@click.option("--gap", type=Share(), help="Good enough: this share from the best, instead of the policy's.")
@click.option("--threads", type=click.IntRange(1), help="How many cores to use, instead of the policy's.")
@click.option("--backend", type=click.Choice(["highs", "scip"]), help="The solver, instead of the policy's.")
@click.option("--out", type=click.Path(file_okay=False), metavar="FOLDER", help="Write there, not beside the policy.")
@click.option(
    "--certificate",
    type=click.Path(dir_okay=False),
    metavar="PATH",
    help="Write the proofs of the audit to this file, for `sdcdsl verify`. It contains the true values.",
)
@click.option("--json", "as_document", is_flag=True, help="Print one JSON document.")
@data_option
@today_option
@outside_option
@colour_option
def protect(
    file: str,
    block: str | None,
    method: str | None,
    out: str | None,
    certificate: str | None,
    as_document: bool,
    instead: tuple[str, ...],
    today: datetime.datetime | None,
    allow_outside: bool,
    colour: bool | None,
    **limits: Any,
) -> None:
    """Protect the tables of a policy: search, audit, release. FILE is a policy, or a JJ file.

    Files are written only when every block was found protected by the audit; then all of them are. Ctrl-C ends the
    search and goes on with the best release found so far; once more, and nothing is written.

    \b
      sdcdsl protect turnover.sdc
      sdcdsl protect turnover.sdc --time-limit 60s --out release/
      sdcdsl protect hier13.jj --method csp --out release/

    Exit code 0: done; 1: the policy is wrong; 3: the data is; 4: no release can satisfy the policy; 5: a limit was
    reached before anything valid was found; 6: the audit did not find the release protected; 130: stopped by Ctrl-C.
    With any other code than 0 nothing was written.
    """
    path = Path(file)
    if method is not None and not is_jj(path):
        raise click.UsageError("--method is for JJ files; a policy says itself which method it wants")
    released = f"{path.stem}.csv" if out is not None else None
    policy, found = guarded(path, lambda: read_any(path, allow_outside, method or "csp", released))
    if has_errors(found):
        code = exits.WRONG_DATA if any(d.code == "SDC302" for d in found) else exits.WRONG_POLICY
        _refuse(found, as_document, colour, code)
    if block is not None and block not in policy.protects:
        raise click.UsageError(
            f"the policy has no protect block `{block}`. {did_you_mean(block, policy.protects)}".strip()
        )
    from sdcdsl.bind.places import Noted  # noqa: PLC0415
    from sdcdsl.cli.protect_output import Report  # noqa: PLC0415
    from sdcdsl.cli.protect_watching import Watching  # noqa: PLC0415
    from sdcdsl.pipeline import End, Request, prepare, release  # noqa: PLC0415

    request = Request(
        policy=policy,
        source=path,
        places=Noted(path.parent, named_files(instead, policy), allow_outside),
        day=today.date() if today is not None else datetime.date.today(),
        folder=Path(out) if out is not None else path.parent,
        block=block,
        instead={name: value for name, value in limits.items() if value is not None},
        certificate=Path(certificate) if certificate else None,
    )
    watching = Watching()
    with watching:
        prepared = watching.run(lambda: prepare(request, watching))
        written, problems = release(prepared, request) if prepared.end is End.DONE else ({}, [])
    report = Report(request, prepared, written, problems)
    if not prepared.outcomes:
        _refuse(report.found, as_document, colour, report.exit)
    if as_document:
        click.echo(json.dumps(report.document(), indent=2, ensure_ascii=False))
    else:
        if report.found:
            click.echo(render(for_reading(report.found), "text", wants_colour(colour, sys.stderr)), nl=False, err=True)
        click.echo(report.text(), nl=False)
    sys.exit(report.exit)


def _refuse(found: list[Diagnostic], as_document: bool, colour: bool | None, code: int) -> None:
    """Nothing was searched."""
    if as_document:
        document = {"blocks": [], "diagnostics": [as_json(d) for d in for_reading(found)], "exit": code}
        click.echo(json.dumps(document, indent=2, ensure_ascii=False))
    else:
        click.echo(render(for_reading(found), "text", wants_colour(colour)), nl=False, color=True)
    sys.exit(code)
