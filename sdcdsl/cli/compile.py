"""`sdcdsl compile`: the full model of a protect block, for any solver outside, and its solution back."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from sdcdsl.cli import exits
from sdcdsl.cli.data_options import DataOptions, given_options
from sdcdsl.cli.printing import echo
from sdcdsl.cli.reading import known_block, read_any, refuse, say_document, tell
from sdcdsl.cli.streams import written
from sdcdsl.diagnostics import Diagnostic, has_errors
from sdcdsl.policy.read import is_jj
from sdcdsl.policy.resolve import Policy

if TYPE_CHECKING:
    from sdcdsl.pipeline.compile import CompiledBlock, CompileRequest

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
    given: DataOptions,
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
    policy, found = read_any(path, given.allow_outside, method or "csp", settings=given.settings)
    if has_errors(found):
        _end([], found, as_document, given.colour, exits.WRONG_DATA if is_jj(path) else exits.WRONG_POLICY)
    chosen = _chosen(policy, block)
    from sdcdsl.cli.ends import EXITS  # noqa: PLC0415
    from sdcdsl.pipeline.compile import CompileRequest, compile_block  # noqa: PLC0415

    request = CompileRequest(
        **given.inputs(policy, path, chosen),
        method=method,
        output=None if output is None else Path(output),
        solution=None if solution is None else Path(solution),
    )
    made = compile_block(request)
    if made.block is None:
        _end([], made.found, as_document, given.colour, EXITS[made.end])
    else:
        if output is not None:
            written()
        document, text = _block_document(made.block, request), _text(made.block, request)
        _end([document], made.found, as_document, given.colour, EXITS[made.end], text)


def _block_document(block: CompiledBlock, request: CompileRequest) -> dict[str, Any]:
    document: dict[str, Any] = {"name": block.name, "method": block.method, "model": asdict(block.size)}
    if request.output is not None:
        document["file"] = str(request.output)
    if (trial := block.trial) is not None:
        document |= {"solution": str(request.solution), "objective": trial.objective}
        document |= {"touched": trial.touched, "verdict": trial.audit.verdict}
    return document


def _text(block: CompiledBlock, request: CompileRequest) -> str:
    from sdcdsl.bind.naming import first_cells  # noqa: PLC0415

    lines: list[str] = []
    if request.output is not None:
        size = block.size
        counts = f"{size.binaries} binaries, {size.others} other variables, {size.rows} rows"
        lines.append(f"{request.output}: {block.method} for {block.name}, {counts}")
    if (trial := block.trial) is not None:
        what = "hidden" if block.method == "csp" else "not published as they are"
        lines.append(f"{block.name}: {block.method}, objective {trial.objective:.10g}, {trial.touched} cells {what}")
        lines.append(f"verdict: {trial.audit.verdict}")
        if not trial.safe and len(trial.exposed):
            lines.append(f"  {first_cells(trial.exposed, block.problem.label)}")
    return "".join(f"{line}\n" for line in lines)


def _chosen(policy: Policy, block: str | None) -> str | None:
    known_block(policy, block)
    if block is None and len(policy.protects) > 1:
        first = next(iter(policy.protects))
        raise click.UsageError(f"the policy has several protect blocks: choose one, --block {first}")
    return block or next(iter(policy.protects), None)


def _end(
    blocks: list[dict[str, Any]],
    found: Sequence[Diagnostic],
    as_document: bool,
    colour: bool | None,
    code: int,
    text: str = "",
) -> NoReturn:
    if as_document:
        say_document({"blocks": blocks}, found, code)
    elif not text:
        refuse({}, found, False, colour, code)
    else:
        if found:
            tell(found, colour)
        echo(text, nl=False)
    sys.exit(code)
