"""Teams of every kind, from the first task on: nothing is done by who asks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from sdcdsl.executing import SERIAL, Team, Threads
from sdcdsl.executing.processes import Processes

LONG_CLUSTER = pytest.param("cluster", marks=pytest.mark.long)  # one test of a cluster is short
RESTART = 30.0  # seconds until a new cluster is the shorter way


@pytest.fixture(scope="session")
def _clusters() -> Iterator[list[Team]]:
    opened: list[Team] = []
    yield opened
    for team in opened:
        team.dismiss()


@pytest.fixture
def cluster(_clusters: list[Team]) -> Team:
    """Two processes behind a scheduler of dask, both there. A test before may have killed them, and on a busy machine
    dask gives up restarting them: then there is another cluster."""
    pytest.importorskip("distributed")
    from sdcdsl.executing.cluster import Cluster  # noqa: PLC0415

    if not _clusters or not _complete(_clusters[-1]):
        _clusters.append(Cluster.at("local:2", patience=0.0))
    return _clusters[-1]


def _complete(team: Any) -> bool:
    try:
        team.client.wait_for_workers(2, timeout=RESTART)
    except TimeoutError:
        return False
    return True


@pytest.fixture(scope="session")
def processes() -> Iterator[Team]:
    with Processes(2, patience=0.0) as team:
        yield team


@pytest.fixture(params=["processes", LONG_CLUSTER])
def apart(request: pytest.FixtureRequest) -> Team:
    """A team in other processes."""
    return request.getfixturevalue(request.param)


@pytest.fixture(params=["serial", "threads", "processes", LONG_CLUSTER])
def team(request: pytest.FixtureRequest) -> Iterator[Team]:
    if request.param == "serial":
        yield SERIAL
    elif request.param == "threads":
        with Threads(2) as threads:
            yield threads
    else:
        yield request.getfixturevalue(request.param)
