"""From what somebody says on the command line to a team."""

from __future__ import annotations

import os
import sys

from sdcdsl.executing.serial import SERIAL
from sdcdsl.executing.team import Team


class ClusterRefused(RuntimeError):
    """There is no such cluster, or it cannot do our work; the message says why, for the user."""


def cores() -> int:
    """Those this process may use."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def team_for(jobs: int | None = None, cluster: str | None = None, alone: bool = False) -> Team:
    """`cluster` if one is named; else as many processes as `jobs` says, or cores at hand, started when there is enough
    to do. One job at a time is done by who asks, or `alone` in a process that may crash without taking us along."""
    if cluster is not None:
        from sdcdsl.executing.cluster import Cluster  # noqa: PLC0415  an extra, and slow to load

        return Cluster.at(cluster)
    if (jobs or cores()) == 1 and not alone:
        return SERIAL
    from sdcdsl.executing.processes import Processes  # noqa: PLC0415  most commands need none

    return Processes(jobs or cores())
