"""`sdcdsl compare`: the same policy under several methods and levels, side by side."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from sdcdsl.cli import exits
from sdcdsl.cli.audit import Share
from sdcdsl.cli.data_options import DataOptions, given_options
from sdcdsl.cli.limits import committed, committing, limited
from sdcdsl.cli.printing import echo, echo_json
from sdcdsl.cli.reading import known_block, read_any, refuse, tell
from sdcdsl.cli.search_options import progress_option, search_options
from sdcdsl.cli.workers import workers, workers_options
from sdcdsl.diagnostics import Diagnostic, has_errors
from sdcdsl.policy.resolve import Policy

NOTHING: dict[str, Any] = {"runs": []}


class Factors(click.ParamType):
    """`0.5,1,2` or `50%,100%`."""

    name = "factors"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[float, ...]:
        if isinstance(value, tuple):
            return value
        parts = [part.strip() for part in str(value).split(",") if part.strip()]
        factors = [Share(factor=True).convert(part, param, ctx) for part in parts]
        if not factors or not all(0 < factor <= 1e6 for factor in factors):
            self.fail(f"{value}: factors are positive numbers, such as 0.5,1,2", param, ctx)
        return tuple(sorted(set(factors)))


@click.command()
@click.argument("file", type=click.Path())
@click.option("--methods", metavar="NAMES", help="csp,ip,cta(norm: L2); else the policy's own, csp, ip, cta, rounding.")
@click.option("--levels", type=Factors(), default="1", metavar="0.5,1,2", help="Factors of the policy's levels.")
@click.option("--block", metavar="NAME", help="The protect block, where the policy has several.")
@search_options("run", "How many cores each run uses")
@workers_options("How many runs at a time")
@click.option(
    "--out",
    type=click.Path(),
    metavar="FOLDER",
    help="Write compare.svg, the risk–utility map, compare.json and compare.csv there.",
)
@progress_option
@click.option("--json", "as_document", is_flag=True, help="Print one JSON document.")
@given_options
@limited(NOTHING)
def compare(
    file: str,
    methods: str | None,
    levels: tuple[float, ...],
    block: str | None,
    jobs: int | None,
    cluster: str | None,
    out: str | None,
    progress: str,
    as_document: bool,
    given: DataOptions,
    **limits: Any,
) -> None:
    """Protect a block with several methods, at several levels, and show what each leaves to readers and to attackers:
    the risk–utility map. FILE is a policy, or a JJ file. Every run is audited; nothing is released.

    \b
      sdcdsl compare turnover.sdc
      sdcdsl compare turnover.sdc --methods csp,ip,cta,rounding --levels 0.5,1,2 --time-limit 30s --out map/
      sdcdsl compare hier13.jj --methods 'csp, cta(norm: L2), cta(norm: L1)'

    Ctrl-C ends all runs under way and shows those that have ended.

    Exit code 0: some run came to a release that may go out; else 4, 5, 6 as for `protect`. 1: the policy or --methods
    is wrong; 3: the data is, or --out cannot be written to; 130: stopped before any run had ended. What is printed
    compares with true values: it is for the office alone.
    """
    path = Path(file)
    policy, found = read_any(path, given.allow_outside, settings=given.settings)
    if has_errors(found):
        refuse(NOTHING, found, as_document, given.colour, _code(found))
    block = _chosen(policy, block)
    from sdcdsl.cli.compare_output import CompareReport, unwritable  # noqa: PLC0415
    from sdcdsl.cli.compare_watching import Comparing  # noqa: PLC0415
    from sdcdsl.cli.protect_display import display  # noqa: PLC0415
    from sdcdsl.pipeline.compare import bound_problem, runs_of  # noqa: PLC0415
    from sdcdsl.pipeline.request import ProtectRequest  # noqa: PLC0415
    from sdcdsl.pipeline.variants import stated_variants, usual_variants  # noqa: PLC0415

    left = []
    if methods is None:
        variants, left = usual_variants(policy, block)
    else:
        variants, found = stated_variants(methods, policy, block)
        if has_errors(found):
            refuse(NOTHING, found, as_document, given.colour, exits.WRONG_POLICY)
    if not variants:
        raise click.UsageError("no method is left to run: --methods csp,ip")
    request = ProtectRequest(
        **given.inputs(policy, path, block),
        folder=path.parent,
        instead={name: value for name, value in limits.items() if value is not None},
    )
    folder = Path(out) if out is not None else None
    problem, found = bound_problem(request)
    if folder is not None:
        found += unwritable(folder, [path, *request.places.read.values()])
    if problem is None or has_errors(found):
        refuse(NOTHING, found, as_document, given.colour, exits.WRONG_DATA)
    runs = runs_of(request, problem, variants, levels)
    with workers(jobs, cluster, alone=True) as team:
        rows = Comparing(team, display(progress, as_document)).run(runs)
    report = CompareReport(policy.title or path.stem, block, rows, left, found, folder)
    committing()
    if report.exit != exits.STOPPED:
        report.write()
        if folder is not None and not report.problems:
            committed(report.exit)
    if as_document:
        echo_json(report.document())
    else:
        if report.found:
            tell(report.found, given.colour)
        if report.exit != exits.STOPPED:
            echo(report.text(), nl=False)
    sys.exit(report.exit)


def _chosen(policy: Policy, block: str | None) -> str:
    """Runs of one block are compared; of several the user says which."""
    known_block(policy, block)
    names = list(policy.protects)
    if not names:
        raise click.UsageError("the policy protects nothing: it has no protect block to compare methods on")
    if block is None and len(names) > 1:
        raise click.UsageError(f"the policy has several protect blocks, and one is compared: --block {names[0]}")
    return block or names[0]


def _code(found: list[Diagnostic]) -> int:
    return exits.WRONG_DATA if any(d.code == "SDC302" for d in found) else exits.WRONG_POLICY
