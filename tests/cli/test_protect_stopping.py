"""Ctrl-C while `sdcdsl protect` searches: once, and the best release so far is audited and released; twice: nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.investment import document
from tests.cli.protecting import files
from tests.pipeline.others import environment, others  # noqa: F401
from tests.waiting import HANGS


class Running:
    """The command in a process of its own, from the moment it says that it searches."""

    def __init__(self, path: Path, site: Path, said: str, *more: str) -> None:
        command = [sys.executable, "-m", "sdcdsl", "protect", str(path), "--progress", "lines", *more]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            command, env=environment(site), text=True, start_new_session=True, stdout=pipe, stderr=pipe
        )
        self.wait_for(said)

    def wait_for(self, said: str) -> None:
        assert self.process.stderr is not None
        lines = []
        while not (lines and said in lines[-1]):
            lines.append(self.process.stderr.readline())
            assert lines[-1], lines

    def press(self) -> None:
        os.kill(self.process.pid, signal.SIGINT)

    def end(self) -> tuple[int, str]:
        out, err = self.process.communicate(timeout=HANGS)
        assert "Traceback" not in err
        return self.process.returncode, out


def test_once(policy, tmp_path, others):  # noqa: F811
    path = policy("method endless", 'release csv "out.csv"')
    running = Running(path, others, "investment: endless, waiting, objective 190, bound 59, gap 68.9 %")
    running.press()
    running.wait_for("the best release found so far is audited")
    code, out = running.end()
    assert code == 0
    assert out.startswith("investment: PROTECTED\n") and "feasible" in out
    assert document(path, "--released", tmp_path / "out.csv")["verdict"] == "protected"


def test_twice(policy, tmp_path, others):  # noqa: F811
    path = policy("method stubborn", 'release csv "out.csv"')
    running = Running(path, others, "investment: stubborn, waiting, for nothing")
    running.press()
    running.wait_for("Ctrl-C once more")
    running.press()
    assert running.end() == (130, "")
    assert files(tmp_path) == {"investment.sdc"}


HURRIED = "import sys; from sdcdsl.pipeline import search; search.GRACE = 0.5; from sdcdsl.cli import main; main()"


def hurried(path: Path, site: Path) -> subprocess.CompletedProcess[str]:
    """The command with less patience for searches that do not come back."""
    command = [sys.executable, "-c", HURRIED, "protect", str(path), "--jobs", "1", "--progress", "none"]
    return subprocess.run(command, env=environment(site), capture_output=True, text=True, timeout=HANGS, check=False)


def test_a_search_that_does_not_come_back_is_given_up(policy, tmp_path, others):  # noqa: F811
    path = policy("method stubborn {\n    time_limit 0.5 s\n  }", 'release csv "out.csv"')
    ended = hurried(path, others)
    assert ended.returncode == 5, ended.stderr
    assert "error[SDC512]" in ended.stderr and "the search had 0.5 s" in ended.stderr
    assert files(tmp_path) == {"investment.sdc"}


@pytest.mark.long
def test_and_the_next_method_has_its_turn(policy, tmp_path, others):  # noqa: F811
    path = policy("method stubborn {\n    time_limit 0.5 s\n  } else csp", 'release csv "out.csv"')
    ended = hurried(path, others)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.startswith("investment: PROTECTED\n") and "cost        59" in ended.stdout
    assert document(path, "--released", tmp_path / "out.csv")["verdict"] == "protected"


def test_before_anything_is_found(policy, tmp_path, others):  # noqa: F811
    path = policy("method fruitless else endless", 'release csv "out.csv"')
    running = Running(path, others, "investment: fruitless, waiting, for nothing")
    running.press()
    out, err = running.process.communicate(timeout=HANGS)
    assert (running.process.returncode, files(tmp_path)) == (130, {"investment.sdc"})
    assert out.startswith("investment: STOPPED, NOTHING FOUND\n")
    assert "had no valid release of `investment` when it was stopped" in err and "more time" not in err
