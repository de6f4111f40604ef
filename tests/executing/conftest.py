"""Teams of every kind, from the first task on: nothing is done by who asks."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sdcdsl.executing import SERIAL, Team, Threads
from sdcdsl.executing.processes import Processes
from tests.waiting import HANGS


@pytest.fixture(scope="session")
def _cluster() -> Iterator[Team]:
    pytest.importorskip("distributed")
    from sdcdsl.executing.cluster import Cluster  # noqa: PLC0415

    with Cluster.at("local:2", patience=0.0) as team:
        yield team


@pytest.fixture
def cluster(_cluster: Team) -> Team:
    """Two processes behind a scheduler of dask, both at work: a test before may have killed them."""
    _cluster.client.wait_for_workers(2, timeout=HANGS)  # pyright: ignore
    return _cluster


@pytest.fixture(scope="session")
def processes() -> Iterator[Team]:
    with Processes(2, patience=0.0) as team:
        yield team


@pytest.fixture(params=["processes", "cluster"])
def apart(request: pytest.FixtureRequest) -> Team:
    """A team in other processes."""
    return request.getfixturevalue(request.param)


@pytest.fixture(params=["serial", "threads", "processes", "cluster"])
def team(request: pytest.FixtureRequest) -> Iterator[Team]:
    if request.param == "serial":
        yield SERIAL
    elif request.param == "threads":
        with Threads(2) as threads:
            yield threads
    else:
        yield request.getfixturevalue(request.param)
