"""`sdcdsl assess`: how near does somebody come who tries to undo an adjusted table?"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, NoReturn

import click

from sdcdsl.cli import exits
from sdcdsl.cli.audit import RELEASED, Share
from sdcdsl.cli.data_options import DataOptions, given_options
from sdcdsl.cli.limits import Duration, committed, committing, limited
from sdcdsl.cli.printing import echo, echo_json
from sdcdsl.cli.reading import json_option, known_block, read_any, refuse, tell, wants_colour
from sdcdsl.cli.workers import workers, workers_options
from sdcdsl.diagnostics import did_you_mean, has_errors
from sdcdsl.policy.read import is_jj
from sdcdsl.policy.resolve import Policy
from sdcdsl.vocabulary.methods import EXPERIMENTS

NOTHING = {"verdict": None, "blocks": [], "plot": None}


class Experiments(click.ParamType):
    """`B1,B2`."""

    name = "names"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:
        if isinstance(value, tuple):
            return value
        names = [name.strip() for name in str(value).split(",") if name.strip()]
        for name in names:
            if name not in EXPERIMENTS:
                near = did_you_mean(name, EXPERIMENTS) or f"there are {', '.join(EXPERIMENTS)}"
                self.fail(f"there is no experiment {name}: {near}", param, ctx)
        if not names:
            self.fail(f"name at least one of {', '.join(EXPERIMENTS)}", param, ctx)
        return tuple(dict.fromkeys(names))


@click.command()
@click.argument("file", type=click.Path())
@click.option("--released", multiple=True, metavar="[TABLE=]FILE", help="The adjusted table; one for each table.")
@click.option("--block", metavar="NAME", help="Assess this protect block only.")
@click.option("--experiments", type=Experiments(), metavar="B1,B2", help="Instead of the policy's; else all of them.")
@click.option("--norm", "norms", type=click.Choice(["L1", "L2"]), multiple=True, help="What the attacker minimises.")
@click.option("--replications", type=click.IntRange(1), help="How many random attackers to try in each experiment.")
@click.option("--delta", type=Share(), help="How far off the attacker's guess of a level may be: 20%.")
@click.option("--soft", type=click.FloatRange(0, min_open=True), help="Penalty where the guesses fit no table.")
@click.option("--seed", type=click.IntRange(0), help="Of the random numbers, instead of the policy's.")
@click.option("--time-limit", type=Duration(), help="For each block, its table and experiments: 90s, 10min, 1h.")
@click.option(
    "--column", multiple=True, metavar="NAME=COLUMN", help="In the released files: of a dimension, or of value."
)
@click.option("--format", type=click.Choice(RELEASED), help="Of the released files; else: recognised.")
@workers_options("How many processes to work in")
@click.option("--plot", type=click.Path(dir_okay=False), metavar="FILE.svg", help="Draw the distributions.")
@click.option("--replay", is_flag=True, help="Try the method on tables that fit the release: which give the same one?")
@click.option("--tables", type=click.IntRange(2), help="How many tables --replay tries at the most.  [default: 200]")
@click.option("--fail-at-risk", is_flag=True, help="Exit with 6 if a table is at risk.")
@click.option(
    "--output", type=click.Choice(["text", "json"]), default="text", show_default=True, help="How to print it."
)
@json_option
@given_options
@limited(NOTHING)
def assess(
    file: str,
    released: tuple[str, ...],
    block: str | None,
    experiments: tuple[str, ...] | None,
    seed: int | None,
    time_limit: float | None,
    jobs: int | None,
    cluster: str | None,
    column: tuple[str, ...],
    format: str | None,
    plot: str | None,
    replay: bool,
    tables: int | None,
    fail_at_risk: bool,
    output: str,
    as_document: bool,
    given: DataOptions,
    **chosen: Any,
) -> None:
    """Try to undo an adjusted table, as somebody would who knows more and more about how it was made: which cells are
    sensitive (B1), also which way they were moved (B2), also by how much at least (B3), also all bounds (C).
    FILE is a policy, or a JJ file.

    Without --released the policy's own method makes the table first; nothing is written.

    With --replay, for every method that says how far its figures are from the truth: what somebody learns who has the
    policy and this program, and keeps of all tables that fit the release those that are released like this.

    \b
      sdcdsl assess turnover.sdc
      sdcdsl assess turnover.sdc --released turnover.csv --experiments B1,B2 --plot risk.svg
      sdcdsl assess turnover.sdc --replay --tables 500 --time-limit 10min
      sdcdsl assess hier13.jj --released adjusted.csv --norm L1 --norm L2 --seed 7

    Exit code 0: done, whatever was found; 1: the policy is wrong, or adjusts nothing; 3: the data or the released table
    is wrong; 4, 5, 6: as for `protect`, or at risk with --fail-at-risk. What is printed is for the office alone.
    """
    output = "json" if as_document else output
    path = Path(file)
    policy, found = read_any(path, given.allow_outside, "cta", settings=given.settings)
    if has_errors(found):
        code = exits.WRONG_DATA if is_jj(path) or any(d.code == "SDC302" for d in found) else exits.WRONG_POLICY
        refuse(NOTHING, found, output == "json", given.colour, code)
    known_block(policy, block)
    seed = policy.seed if seed is None else seed
    if replay:
        _no_experiments(experiments, plot, fail_at_risk, chosen)
        _replayed(policy, path, block, released, column, format, tables, seed, time_limit, output, jobs, cluster, given)
        return
    if tables is not None:
        raise click.UsageError("--tables is of --replay")
    if seed is None:
        raise click.UsageError("the experiments draw random numbers: --seed 2025, or `seed 2025` in the policy")
    from sdcdsl.cli.assess_output import AssessReport  # noqa: PLC0415
    from sdcdsl.cli.audit_files import released_tables  # noqa: PLC0415
    from sdcdsl.cli.progress import Counting  # noqa: PLC0415
    from sdcdsl.cli.protect_watching import watched  # noqa: PLC0415
    from sdcdsl.pipeline.assess import AssessRequest, assess_blocks  # noqa: PLC0415

    files = released_tables(released, policy, block, column=column, format=format)
    target = _drawable(plot, [path, *files.files.values()])
    chosen["norm"] = chosen.pop("norms") or None
    request = AssessRequest(
        **given.inputs(policy, path, block),
        released=files,
        experiments=experiments,
        options={name: value for name, value in chosen.items() if value is not None},
        seed=seed,
        time_limit=time_limit,
    )
    with workers(jobs, cluster) as team, Counting() as watch:
        made = assess_blocks(request, team, watch, watched("auto", team))
    report = AssessReport(made, target, fail_at_risk)
    if not report.made.assessments:
        refuse(NOTHING, report.found, output == "json", given.colour, report.exit)
    committing()
    report.draw()
    if target is not None and not report.problems:
        committed(report.exit)
    if output == "json":
        echo_json(report.document())
    else:
        if report.found:
            tell(report.found, given.colour)
        echo(report.text(wants_colour(given.colour)), nl=False, colour=True)
    sys.exit(report.exit)


def _no_experiments(
    experiments: tuple[str, ...] | None, plot: str | None, fail_at_risk: bool, chosen: dict[str, Any]
) -> None:
    said = {"experiments": experiments, "plot": plot, "fail_at_risk": fail_at_risk, **chosen, "norm": chosen["norms"]}
    for name, value in said.items():
        if value:
            raise click.UsageError(f"--{name.replace('_', '-')} is of experiments, and --replay makes none")


def _replayed(
    policy: Policy,
    path: Path,
    block: str | None,
    released: tuple[str, ...],
    column: tuple[str, ...],
    format: str | None,
    tables: int | None,
    seed: int | None,
    time_limit: float | None,
    output: str,
    jobs: int | None,
    cluster: str | None,
    given: DataOptions,
) -> NoReturn:
    from sdcdsl.cli.assess_replay import ReplayReport  # noqa: PLC0415
    from sdcdsl.cli.audit_files import released_tables  # noqa: PLC0415
    from sdcdsl.cli.progress import Counting  # noqa: PLC0415
    from sdcdsl.pipeline.method_replay import TABLES, MethodReplayRequest, replay_methods  # noqa: PLC0415

    request = MethodReplayRequest(
        **given.inputs(policy, path, block),
        released=released_tables(released, policy, block, column=column, format=format),
        tables=tables or TABLES,
        seed=seed or 0,
        time_limit=time_limit,
    )
    with workers(jobs, cluster) as team, Counting() as watch:
        report = ReplayReport(replay_methods(request, team, watch))
    if not report.made.blocks:
        refuse(NOTHING, list(report.made.found), output == "json", given.colour, report.exit)
    if output == "json":
        echo_json(report.document())
    else:
        if report.made.found:
            tell(list(report.made.found), given.colour)
        echo(report.text(), nl=False)
    sys.exit(report.exit)


def _drawable(plot: str | None, read: list[Path]) -> Path | None:
    """What need not wait for the end of long experiments."""
    if plot is None:
        return None
    path = Path(plot)
    if path.suffix.lower() != ".svg":
        raise click.UsageError(f"--plot draws SVG: {path.with_suffix('.svg')}, not {path}")
    if not path.parent.is_dir():
        raise click.UsageError(f"--plot {path}: there is no folder {path.parent}")
    if path.exists() and any(other.exists() and path.samefile(other) for other in read):
        raise click.UsageError(f"--plot {path} would overwrite a file that is read")
    return path
