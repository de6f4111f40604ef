"""One interface, whoever works: results, errors, what is shared, lines; and workers that are killed."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import CancelledError, Executor, wait

import pytest

from sdcdsl.executing import SERIAL, Channel, Stopped, Tally, Team, WorkerLost, in_order
from sdcdsl.executing.cluster import Cluster
from sdcdsl.executing.processes import Processes
from sdcdsl.executing.team import DEATHS
from tests.executing import tasks_for_tests as tasks
from tests.waiting import HANGS, until


def pids(team: Team) -> list[int]:
    return team.pids if isinstance(team, Processes) else list(team.client.run(os.getpid).values())  # pyright: ignore


def test_a_team_is_an_executor(team):
    assert isinstance(team, Team) and issubclass(Team, Executor)
    shared = team.share([1, 2, 3])
    futures = [team.submit(tasks.add, shared, i) for i in range(4)]
    assert [future.result(HANGS) for future in futures] == [6, 7, 8, 9]
    assert list(team.map(abs, [-1, 2, -3])) == [1, 2, 3]


def test_a_cluster_is_a_team(cluster):
    test_a_team_is_an_executor(cluster)


def test_errors_are_those_of_the_task(team):
    with pytest.raises(ValueError, match="this does not go"):
        team.submit(tasks.failing).result(HANGS)


def test_results_come_in_the_order_of_the_tasks(team):
    ended: list[int] = []
    made = in_order(team, tasks.late_if_first, [(i,) for i in range(4)], done=ended.append)
    assert list(made) == [0, 1, 2, 3]
    assert sorted(ended) == [0, 1, 2, 3]


def test_once_the_time_is_over_nobody_waits(team, tmp_path):
    if team is SERIAL:
        pytest.skip("who works alone looks at the deadline between two tasks")
    waits = [(str(tmp_path / name),) for name in ("first", "never", "last")]
    (tmp_path / "first").touch()
    (tmp_path / "last").touch()
    made = in_order(team, tasks.waiting_for, waits, over=(tmp_path / "never.begun").exists)
    assert waits[1][0] not in list(made)  # nobody waited for what does not come
    (tmp_path / "never").touch()


def test_little_work_is_done_by_who_asks():
    with Processes(2, patience=30.0) as team:
        assert list(in_order(team, tasks.who, [(i,) for i in range(5)])) == [os.getpid()] * 5
        assert team.pids == []


def test_work_goes_to_others_when_there_is_much():
    with Processes(2, patience=0.05) as team:
        first, *rest = in_order(team, tasks.who_slowly, [(0.1,)] * 6)
        assert first == os.getpid() and os.getpid() not in rest


def test_what_is_shared_goes_to_a_worker_once(apart):
    shared = apart.share(list(range(1000)))
    seen = {team_task.result(HANGS) for team_task in [apart.submit(tasks.identity_of, shared) for _ in range(20)]}
    assert len(seen) == len({pid for pid, _ in seen}) <= 2  # one object a process


def test_what_nobody_refers_to_any_more_is_forgotten():
    with Processes(1, patience=0.0) as team:
        shared = team.share([1])
        assert team.submit(tasks.add, shared, 1).result(HANGS) == 2
        del shared
        assert team._parcels.frames == {}


def test_a_task_says_where_it_stands_and_hears_that_it_should_stop(team):
    heard: list[object] = []
    line = Channel(heard.append)
    stopping = threading.Thread(target=lambda: until(lambda: heard) and line.stop(1))
    stopping.start()
    future = team.submit(tasks.waiting, line)
    assert future.result(HANGS) == "stopped"
    assert heard == [{"at": 1}]


def test_counts_add_up():
    told: list[tuple[int, int]] = []
    tally = Tally([10, 5], lambda done, total: told.append((done, total)))
    tally.of(0)(4)
    tally.of(1)(9)  # says more than there is
    tally.of(0)(2)  # comes late
    tally.done(0)
    assert told == [(4, 15), (9, 15), (15, 15)]


# ---- workers that die ------------------------------------------------------------------------------------


def test_tasks_of_a_killed_worker_are_done_again(apart):
    shared = apart.share([1, 2, 3])
    apart.submit(tasks.add, shared, 0).result(HANGS)
    futures = [apart.submit(tasks.slow, shared, i) for i in range(6)]
    time.sleep(0.4)
    os.kill(pids(apart)[0], signal.SIGKILL)
    assert [future.result(HANGS) for future in futures] == [6, 7, 8, 9, 10, 11]


@pytest.mark.long
def test_all_workers_are_killed_and_what_they_shared_with_them(apart):
    shared = apart.share([1, 2, 3])
    apart.submit(tasks.add, shared, 0).result(HANGS)
    futures = [apart.submit(tasks.slow, shared, i) for i in range(4)]
    time.sleep(0.3)
    for pid in pids(apart):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    assert [future.result(HANGS) for future in futures] == [6, 7, 8, 9]


def test_a_task_that_no_worker_survives(apart):
    with pytest.raises(WorkerLost):
        apart.submit(tasks.dying).result(HANGS)
    assert apart.submit(tasks.add, [1], 1).result(HANGS) == 2  # and the team goes on


def test_workers_that_died_idle_are_not_held_against_the_next_task(tmp_path):
    """One is killed with nothing to do, then the task loses all but one of the workers that it may lose."""
    with Processes(1, patience=0.0) as team:
        idle = team.submit(tasks.who).result(HANGS)
        os.kill(idle, signal.SIGKILL)
        until(lambda: gone(idle))
        assert team.submit(tasks.dying_at_first, str(tmp_path), DEATHS - 1).result(HANGS) == DEATHS - 1


def test_dismissed_while_it_works():
    team = Processes(2, patience=0.0)
    futures = [team.submit(tasks.sleeping, 4 * HANGS) for _ in range(4)]
    until(lambda: len(team.pids) == 2)
    processes = team.pids
    team.dismiss()
    wait(futures, HANGS)
    assert all(future.done() for future in futures)
    for future in futures:
        with pytest.raises((Stopped, CancelledError)):
            future.result()
    until(lambda: all(gone(pid) for pid in processes))
    with pytest.raises(RuntimeError, match="sent home"):
        team.submit(tasks.who)


def test_no_worker_outlives_who_started_it():
    """Killed, so that it can do nothing about them itself."""
    program = (
        "import time\nfrom sdcdsl.executing.processes import Processes\n"
        "from tests.executing import tasks_for_tests as t\n"
        "team = Processes(2, patience=0.0)\n"
        "futures = [team.submit(t.sleeping, 3600.0) for _ in range(2)]\n"
        "while len(team.pids) < 2: time.sleep(0.02)\n"
        "time.sleep(1); print(*team.pids, flush=True); time.sleep(3600)\n"
    )
    started = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert started.stdout is not None
    workers = [int(pid) for pid in started.stdout.readline().split()]
    assert len(workers) == 2 and not any(gone(pid) for pid in workers)
    started.kill()
    started.wait()
    until(lambda: all(gone(pid) for pid in workers))


def gone(pid: int) -> bool:
    """Also if nobody has waited for it yet. Its first thread may be gone before the others, and it is not, then."""
    try:
        os.kill(pid, 0)
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] == "Z" and len(os.listdir(f"/proc/{pid}/task")) == 1
    except OSError:
        return True


# ---- small print -----------------------------------------------------------------------------------------


def test_what_a_task_prints_does_not_get_between_results(capfd):
    with Processes(1, patience=0.0) as team:
        assert team.submit(tasks.printing, "12345678 bytes of noise").result(HANGS) == "12345678 bytes of noise"
    assert capfd.readouterr().out == ""


def test_a_result_that_cannot_be_sent_is_an_error(apart):
    with pytest.raises((TypeError, RuntimeError), match="pickle"):
        apart.submit(tasks.unsendable).result(HANGS)


@pytest.mark.long
def test_addresses_that_are_none():
    from sdcdsl.executing import ClusterRefused  # noqa: PLC0415

    for address in ("http://somewhere", "local:0", "local:x", "8"):
        with pytest.raises(ClusterRefused, match="is no cluster"):
            Cluster.at(address)
    with pytest.raises(ClusterRefused, match="no answer"):
        Cluster.at("tcp://127.0.0.1:9")


@pytest.mark.long
def test_data_whose_way_a_dying_worker_cut_is_sent_again(cluster, monkeypatch):
    """A fault put in by hand: a worker that dies just then cannot be had at will."""
    sent, send = [], cluster.client.scatter

    def scatter(*given, **options):
        sent.append(given)
        if len(sent) == 1:
            raise OSError("Stream is closed")
        return send(*given, **options)

    monkeypatch.setattr(cluster.client, "scatter", scatter)
    assert cluster.submit(tasks.add, cluster.share([1, 2, 3]), 4).result(HANGS) == 10
    assert len(sent) == 2
