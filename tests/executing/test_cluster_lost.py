"""A cluster that goes away is said to have gone, and what was found is kept; a local one answers nobody else."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

import sdcdsl.executing
from sdcdsl.cli import cli, exits
from sdcdsl.executing import ClusterLost
from tests.by_search import by_search
from tests.cli.investment import POLICY
from tests.executing import tasks_for_tests as tasks

pytest.importorskip("distributed")
import dask.config
import psutil

from sdcdsl.executing import cluster
from sdcdsl.executing.cluster import Cluster

HANG = 300  # seconds after which something hangs


class Elsewhere:
    """A scheduler and a worker in processes of their own."""

    def __init__(self, folder: Path) -> None:
        port = _free_port()
        self.address = f"tcp://127.0.0.1:{port}"
        log = open(folder / "dask.log", "wb")  # noqa: SIM115
        here = {"stdout": log, "stderr": log, "cwd": folder}
        command = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", str(port)]
        self.scheduler = subprocess.Popen([*command, "--no-dashboard", "--dashboard-address", "127.0.0.1:0"], **here)
        command = [sys.executable, "-m", "distributed.cli.dask_worker", self.address, "--nthreads", "1", "--no-nanny"]
        self.worker = subprocess.Popen([*command, "--no-dashboard", "--host", "127.0.0.1"], **here)

    def team(self) -> Cluster:
        begun = time.monotonic()
        while True:
            try:
                return Cluster.at(self.address, patience=0.0)
            except sdcdsl.executing.ClusterRefused:
                if time.monotonic() - begun > HANG:
                    raise

    def kill_scheduler(self) -> None:
        self.scheduler.kill()
        self.scheduler.wait(HANG)


@pytest.fixture
def elsewhere(tmp_path) -> Iterator[Elsewhere]:
    made = Elsewhere(tmp_path)
    try:
        yield made
    finally:
        for process in (made.scheduler, made.worker):
            process.kill()
            process.wait(HANG)


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


@pytest.mark.long
def test_a_scheduler_that_is_killed_while_a_task_runs(elsewhere, tmp_path):
    with elsewhere.team() as team:
        begun = tmp_path / "begun"
        future = team.submit(tasks.wait_after_beginning, str(begun))
        limit = time.monotonic() + HANG
        while not begun.exists():
            assert time.monotonic() < limit
            time.sleep(0.05)
        elsewhere.kill_scheduler()
        assert isinstance(future.exception(HANG), ClusterLost)
        with pytest.raises(ClusterLost):
            team.submit(tasks.add, [1], 2).result(HANG)


@pytest.mark.long
def test_the_last_worker_of_a_cluster_that_is_killed(elsewhere, tmp_path, monkeypatch):
    monkeypatch.setattr(cluster, "ABSENT", 0.0)
    with elsewhere.team() as team:
        begun = tmp_path / "begun"
        future = team.submit(tasks.wait_after_beginning, str(begun))
        limit = time.monotonic() + HANG
        while not begun.exists():
            assert time.monotonic() < limit
            time.sleep(0.05)
        elsewhere.worker.kill()
        error = future.exception(HANG)
        assert isinstance(error, ClusterLost) and "last worker" in str(error)


def protected_with(team: Cluster, monkeypatch, *arguments: object):
    monkeypatch.setattr(sdcdsl.executing, "team_for", lambda *args: team)
    return CliRunner().invoke(
        cli, ["protect", *map(str, arguments), "--cluster", "tcp://x:1", "--no-report", "--no-lock"]
    )


@pytest.fixture
def investment(tmp_path) -> Path:
    path = tmp_path / "investment.sdc"
    path.write_text(POLICY.replace("LEVELS", "lpl 5\n  upl 8").replace("method csp", "cost value\n  method csp"))
    return path


@pytest.mark.long
def test_a_scheduler_that_is_killed_during_protect(elsewhere, investment, monkeypatch):
    """It goes when it is given the first task, the audit's: the release was found and cannot be proven any more. The
    search is one that keeps checkpoints; tables as small as this are solved by their model at once."""
    team, submit = elsewhere.team(), Cluster.submit

    def submit_once_dead(self, *args, **kwargs):
        if elsewhere.scheduler.poll() is None:
            elsewhere.kill_scheduler()
        return submit(self, *args, **kwargs)

    monkeypatch.setattr(Cluster, "submit", submit_once_dead)
    with by_search():
        result = protected_with(team, monkeypatch, investment)
    assert result.exit_code == exits.LIMIT, result.output
    assert "SDC522" in result.output and "the cluster was lost" in result.output
    assert "SDC513" not in result.output and not (investment.parent / "investment.csv").exists()
    assert (investment.parent / "internal" / "investment.investment.csp.checkpoint").exists()
    monkeypatch.undo()
    resume = ["protect", str(investment), "--resume", "--jobs", "1", "--no-report", "--no-lock"]
    with by_search():
        again = CliRunner().invoke(cli, resume)
    assert again.exit_code == 0 and "SDC520" not in again.output, again.output
    assert "59, proven to be the least" in again.output  # paper 003, Figure 1
    assert not (investment.parent / "internal" / "investment.investment.csp.checkpoint").exists()


@pytest.mark.long
def test_a_worker_that_is_killed_while_a_local_cluster_starts(tmp_path, investment):
    deadly = tmp_path / "deadly.py"
    deadly.write_text("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n")
    with dask.config.set({"distributed.worker.preload": [str(deadly)], "distributed.worker.preload-argv": [[]]}):
        with pytest.raises(ClusterLost, match="while it started"):
            Cluster.at("local:1")
        result = CliRunner().invoke(
            cli, ["protect", str(investment), "--cluster", "local:1", "--no-report", "--no-lock"]
        )
    assert result.exit_code == exits.LIMIT, result.output
    assert "SDC522" in result.output
    assert not (investment.parent / "investment.csv").exists()


# ---- a local cluster is for who started it ---------------------------------------------------------------


def listening() -> set[tuple[str, int]]:
    """Ports of this process and of all that it started."""
    me = psutil.Process()
    out = set()
    for process in (me, *me.children(recursive=True)):
        with contextlib.suppress(psutil.Error):
            out |= {tuple(c.laddr) for c in process.net_connections("inet") if c.status == psutil.CONN_LISTEN}
    return out


def answer(address: tuple[str, int], secure: bool) -> bytes:
    """What somebody without a certificate is told."""
    try:
        with socket.create_connection(address, timeout=HANG) as plain:
            connection = plain
            if secure:
                context = ssl.create_default_context()
                context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
                connection = context.wrap_socket(plain)
            connection.sendall(b"GET /info/main/workers.html HTTP/1.0\r\n\r\n")
            return connection.recv(1000)
    except OSError:  # it hangs up
        return b""


def test_no_port_of_a_local_cluster_answers_without_a_certificate():
    before = listening()
    with Cluster.at("local:2", patience=0.0) as team:
        assert team.submit(tasks.add, [1, 2], 3).result(HANG) == 6
        opened = listening() - before
        assert len(opened) >= 3  # of the scheduler and two workers
        assert {host for host, _ in opened} == {"127.0.0.1"}
        for address in opened:
            assert answer(address, secure=False) == b""
            assert answer(address, secure=True) == b""


@pytest.mark.long
def test_a_worker_that_is_killed_in_the_middle_is_replaced(tmp_path):
    with Cluster.at("local:1", patience=0.0) as team:
        [pid] = [team.submit(os.getpid).result(HANG)]
        os.kill(pid, signal.SIGKILL)
        assert team.submit(tasks.add, [1, 2], 3).result(HANG) == 6
