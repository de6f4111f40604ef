"""Who does the work: options that several commands have."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from sdcdsl.cli import exits
from sdcdsl.cli.reading import tell
from sdcdsl.diagnostics import diagnostic

if TYPE_CHECKING:
    from sdcdsl.executing import Team


def workers_options(jobs: str) -> Callable[[Callable], Callable]:
    """`jobs` says what is done at a time."""

    def decorate(command: Callable) -> Callable:
        for option in (
            click.option(
                "--cluster",
                metavar="ADDRESS",
                help="Work is done by a cluster of dask: tcp://host:8786, or local:4 for processes of this machine.",
            ),
            click.option("--jobs", type=click.IntRange(1), help=f"{jobs}; as many as there are cores if not given."),
        ):
            command = option(command)
        return command

    return decorate


@contextmanager
def workers(jobs: int | None, cluster: str | None, alone: bool = False) -> Iterator[Team]:
    """`alone`: one after another in another process, where `jobs` is 1, and not in this one."""
    from sdcdsl.executing import ClusterLost, ClusterRefused, team_for  # noqa: PLC0415  not for `sdcdsl --help`

    if jobs is not None and cluster is not None:
        raise click.UsageError("--jobs is about this machine: a cluster has as many workers as it has")
    try:
        team = team_for(jobs, cluster, alone)
        with team:
            yield team
    except ClusterRefused as error:
        raise click.UsageError(f"--cluster: {error}") from None
    except ClusterLost as error:
        tell([diagnostic("SDC522", "the cluster was lost: nothing was written", notes=[str(error)])])
        sys.exit(exits.LIMIT)
