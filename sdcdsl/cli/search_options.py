"""How a search is told when to stop and what to use: options that `protect` and `compare` share."""

from __future__ import annotations

from collections.abc import Callable

import click

from sdcdsl.cli.audit import Share
from sdcdsl.cli.limits import Duration
from sdcdsl.vocabulary.backends import BACKENDS

MODES = ("auto", "lines", "events", "none")  # of progress


class BackendName(click.ParamType):
    """One of ours, or of a plug-in, which is looked for when it is named."""

    name = "backend"

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        return f"[{'|'.join(BACKENDS.built_in_names)}]"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if value not in BACKENDS:
            fault = BACKENDS.fault(value)
            known = ", ".join(repr(name) for name in BACKENDS)
            self.fail(fault.headline if fault is not None else f"{value!r} is not one of {known}.", param, ctx)
        return value


def search_options(each: str, threads: str) -> Callable[[Callable], Callable]:
    """`each`: what a limit of time is for; `threads`: who uses so many cores."""

    def decorate(command: Callable) -> Callable:
        for option in (
            click.option("--backend", type=BackendName(), help="The solver, instead of the policy's."),
            click.option("--threads", type=click.IntRange(1), help=f"{threads}, instead of the policy's."),
            click.option("--gap", type=Share(), help="Good enough: this share from the best, instead of the policy's."),
            click.option(
                "--time-limit",
                type=Duration(),
                help=f"For each {each}, which then ends with the best it has, instead of the policy's: 90s, 10min, 1h.",
            ),
        ):
            command = option(command)
        return command

    return decorate


def progress_option(command: Callable) -> Callable:
    return click.option(
        "--progress",
        type=click.Choice(MODES),
        default="auto",
        help="On stderr: lines now and then, JSON events, or none. By default live on a terminal, events with --json.",
    )(command)
