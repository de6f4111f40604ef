"""The short form of `make faults FAULTS='--places kills'`: all files of a release or none of them, whenever it ends."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.faults.kills import NEW, OLD, SCENARIOS, STAGING

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}
CALLS = "rename,renameat,renameat2,link,linkat,unlink,unlinkat,mkdir,mkdirat,rmdir,fsync"


@pytest.mark.long
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a system with fork")
def test_a_kill_or_an_error_at_any_call():
    """In a process of its own: what it forks must have no threads of libraries that other tests have started."""
    start = [sys.executable, "-c", "from tests.faults.kills import short; short()"]
    got = subprocess.run(start, env=ENVIRONMENT, cwd=ROOT, capture_output=True, text=True, timeout=1800, check=False)
    assert got.returncode == 0, got.stderr
    found = json.loads(got.stdout)
    assert [wrong for one in found.values() for wrong in one["wrong"]] == []
    for name, one in found.items():
        assert set(one["ends"]) <= {"old", "new"}, name
        assert one["ends"]["old"], name  # both ends are met, so that kills fell before and after the decision
    assert found["every point"]["ends"]["new"] and found["twice"]["ends"]["new"]
    assert found["every point"]["kills"] > 40


@pytest.mark.long
@pytest.mark.skipif(shutil.which("strace") is None, reason="needs strace")
def test_a_kill_from_outside(tmp_path: Path):
    """The same with the system's own calls: a few of those that the process makes last, when names change."""
    scenario = SCENARIOS[0]
    start = tmp_path / "start"
    start.mkdir()
    (start / "p.sdc").write_text(scenario.policy(OLD))
    assert protect(start).returncode == 0
    (start / "p.sdc").write_text(scenario.policy(NEW))
    traced = tmp_path / "calls"
    done = copy(start, tmp_path / "done")
    assert protect(done, "-o", str(traced), "-e", f"trace={CALLS}").returncode == 0
    released = [f"o.{ending}" for ending in ("csv", "html", "parquet", "sdmx.csv", "jj")]
    states = {name: contents(folder, released) for name, folder in (("old", start), ("new", done))}
    threads = re.findall(r"^(\d+) +(\w+)\(", traced.read_text(), re.MULTILINE)
    calls = [name for thread, name in threads if thread == threads[-1][0]]  # strace counts those of each thread apart
    renames = [number for number, name in enumerate(calls, 1) if name.startswith("rename")]
    assert len(renames) >= 2 * len(released)
    seen = set()
    for number in [*renames[-13::3], len(calls) - 3]:
        name = calls[number - 1]
        folder = copy(start, tmp_path / "work")
        when = calls[:number].count(name)
        got = protect(folder, "-o", "/dev/null", "-e", f"inject={name}:signal=KILL:when={when}")
        assert got.returncode in (-signal.SIGKILL, 128 + signal.SIGKILL), (name, when)
        subprocess.run(
            [sys.executable, "-m", "sdcdsl", "verify", "p.sdc.lock"], cwd=folder, env=ENVIRONMENT, check=False
        )
        found = [which for which, wanted in states.items() if contents(folder, released) == wanted]
        assert found, (name, when)
        assert not (folder / STAGING).exists()
        seen |= set(found)
    assert seen <= {"old", "new"}


def protect(folder: Path, *tracing: str) -> subprocess.CompletedProcess:
    command = [sys.executable, "-m", "sdcdsl", "protect", "p.sdc", "--no-report"]
    strace = ["strace", "-f", "-qq", *tracing] if tracing else []
    return subprocess.run(
        [*strace, *command], cwd=folder, env=ENVIRONMENT, capture_output=True, timeout=600, check=False
    )


def copy(start: Path, folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(start, folder)
    return folder


def contents(folder: Path, names: list[str]) -> list[bytes | None]:
    return [(folder / name).read_bytes() if (folder / name).exists() else None for name in names]
