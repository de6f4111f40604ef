"""`sdcdsl compile`: the full model of a protect block, for any solver outside, and its solution back."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from sdcdsl.cli import exits
from sdcdsl.cli.given import Given, given_options
from sdcdsl.cli.printing import echo, echo_json
from sdcdsl.cli.reading import guarded, is_jj, read_any, wants_colour
from sdcdsl.diagnostics import Diagnostic, has_errors, or_near
from sdcdsl.diagnostics.diagnostic import for_reading
from sdcdsl.diagnostics.render import render
from sdcdsl.diagnostics.render.json import as_json

ENDINGS = (".lp", ".mps", ".nc")


@click.command()
@click.argument("file", type=click.Path())
@click.option(
    "-o", "--output", type=click.Path(dir_okay=False), metavar="PATH", help="Write the model there: .lp, .mps or .nc."
)
@click.option("--block", metavar="NAME", help="The protect block, where the policy has several.")
@click.option(
    "--method", metavar="NAME", help="A method of the block's chain, or of a JJ file; else the first, or csp."
)
@click.option(
    "--solution", type=click.Path(dir_okay=False), metavar="PATH", help="Read this solution, audit what it publishes."
)
@click.option("--json", "as_document", is_flag=True, help="Print one JSON document.")
@given_options
def compile(
    file: str,
    output: str | None,
    block: str | None,
    method: str | None,
    solution: str | None,
    as_document: bool,
    given: Given,
) -> None:
    """Write the full model of a protect block for a solver outside, or read a solution of it back: what it would
    publish is audited, and nothing is released. FILE is a policy, or a JJ file.

    \b
      sdcdsl compile turnover.sdc -o turnover.lp
      sdcdsl compile turnover.sdc --solution turnover.sol

    Exit code 0: the model is written, or the solution protects all; 6: it does not; 4: there is no solution; 5: the
    solver stopped without one; 1: the policy is wrong; 3: the data or the solution is. Model and solution are as
    confidential as the data.
    """
    path = Path(file)
    if output is None and solution is None:
        raise click.UsageError("say where to write the model (-o model.lp), or which solution to read (--solution)")
    if output is not None and Path(output).suffix.lower() not in ENDINGS:
        raise click.UsageError(f"{output} must end in {', '.join(ENDINGS)}: that says how the model is written")
    policy, found = guarded(path, lambda: read_any(path, given.allow_outside, method or "csp"))
    if has_errors(found):
        _end([], found, as_document, given.colour, exits.WRONG_DATA if is_jj(path) else exits.WRONG_POLICY)
    chosen = _block(block, policy.protects)
    from sdcdsl.cli.compiling import Asked, compiled  # noqa: PLC0415
    from sdcdsl.pipeline.request import Request  # noqa: PLC0415

    request = Request(
        policy=policy,
        source=path,
        places=given.places(path.parent, policy),
        day=given.day,
        folder=path.parent,
        block=chosen,
    )
    files = (None if name is None else Path(name) for name in (output, solution))
    done = compiled(request, Asked(method, *files))
    _end(done.blocks, done.found, as_document, given.colour, done.exit, done.text)


def _block(asked: str | None, known: Mapping[str, Any]) -> str | None:
    if asked is None:
        if len(known) > 1:
            raise click.UsageError(f"the policy has several protect blocks: choose one, --block {next(iter(known))}")
        return next(iter(known), None)
    if asked not in known:
        raise click.UsageError(or_near(f"the policy has no protect block `{asked}`", asked, known))
    return asked


def _end(
    blocks: list[dict], found: list[Diagnostic], as_document: bool, colour: bool | None, code: int, text: str = ""
) -> None:
    if as_document:
        document = {"blocks": blocks, "diagnostics": [as_json(d) for d in for_reading(found)], "exit": code}
        echo_json(document)
    else:
        if found:
            # With a result the talk goes elsewhere; without one it is the result.
            stream = sys.stderr if text else sys.stdout
            echo(render(for_reading(found), "text", wants_colour(colour, stream)), file=stream, nl=False, colour=True)
        echo(text, nl=False)
    sys.exit(code)
