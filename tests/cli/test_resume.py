"""`sdcdsl protect --resume` after kill -9: the program as it is, really killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.executing.cubes import cube
from tests.waiting import HANGS

ROOT = Path(__file__).parent.parent.parent
# Small tables are solved by the model, or have all their intervals at once: there would be nothing to keep.
PROGRAM = """
from dataclasses import replace
from sdcdsl.accelerate.ip import all_levels
from sdcdsl.cli import main
from tests.by_search import by_search

all_levels.TUNING = replace(all_levels.TUNING, most=0.0)
with by_search():
    main()
"""


def started(path: Path, out: Path, *more: str) -> subprocess.Popen:
    out.mkdir(exist_ok=True)
    command = [sys.executable, "-c", PROGRAM, "protect", str(path), "--out", str(out), "--progress", "none", *more]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=out)


def ended(process: subprocess.Popen) -> tuple[int, str]:
    out, err = process.communicate(timeout=HANGS)
    return process.returncode, out + err


@pytest.fixture(scope="module")
def table(tmp_path_factory) -> Path:
    return cube(tmp_path_factory.mktemp("table") / "cube.jj", 3, 5)


def killed_at_its_checkpoint(table: Path, out: Path, *more: str) -> Path:
    process = started(table, out, "--checkpoint-every", "0", *(more or ("--gap", "0")))
    until = time.monotonic() + HANGS
    while time.monotonic() < until and process.poll() is None:
        found = list((out / "internal").glob("*.checkpoint"))
        if found:
            process.send_signal(signal.SIGKILL)
            process.wait()
            return found[0]
        time.sleep(0.005)
    raise AssertionError(ended(process))


@pytest.mark.long
def test_a_killed_search_goes_on(table, tmp_path):
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    assert ended(started(table, whole, "--gap", "0"))[0] == 0
    checkpoint = killed_at_its_checkpoint(table, parts)
    assert checkpoint.name == "cube.jj.csp.checkpoint" or checkpoint.name.startswith("cube.")
    assert checkpoint.stat().st_mode & 0o777 == 0o600
    assert not (parts / "cube.csv").exists()
    code, said = ended(started(table, parts, "--gap", "0", "--resume"))
    assert code == 0 and "SDC520" not in said, said
    assert (parts / "cube.csv").read_bytes() == (whole / "cube.csv").read_bytes()
    assert not list(parts.glob("*checkpoint*"))


INTERVALS = """sdc 1
policy "Cube"
seed 5
table cube {
  jj "cube.jj"
}
attacker external {
  bounds 0 .. inf
}
protect cube {
  lpl 10% of value
  upl 10% of value
  against external
  method METHOD
  release csv "cube.csv"
}
"""


@pytest.mark.long
@pytest.mark.parametrize(
    ("method", "sensitive"), [("ip {\n    gap 0.01%\n  }", 12), ("ecta {\n    alpha 50%\n    tries 100\n  }", 4)]
)
def test_so_do_intervals_and_tries(tmp_path, method: str, sensitive: int):
    cube(tmp_path / "cube.jj", 4 if sensitive > 10 else 3, sensitive)
    policy = tmp_path / "cube.sdc"
    policy.write_text(INTERVALS.replace("METHOD", method), encoding="utf-8")
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    code, said = ended(started(policy, whole, "--json", "--jobs", "1"))
    assert code == 0, said
    killed_at_its_checkpoint(policy, parts, "--jobs", "1")
    assert not (parts / "cube.csv").exists()
    code, again = ended(started(policy, parts, "--resume", "--json", "--jobs", "1"))
    assert code == 0 and "SDC520" not in again, again
    [first], [second] = (json.loads(text)["blocks"] for text in (said, again))
    assert [second[k] for k in ("status", "verdict")] == [first[k] for k in ("status", "verdict")]
    if method.startswith("ecta"):  # of intervals several may be the best
        assert (parts / "cube.csv").read_bytes() == (whole / "cube.csv").read_bytes()
    assert second["objective"] == pytest.approx(first["objective"], rel=2e-4)
    assert not list(parts.glob("*checkpoint*"))


@pytest.mark.long
def test_a_checkpoint_of_something_else_is_told_and_not_used(table, tmp_path):
    checkpoint = killed_at_its_checkpoint(table, tmp_path)
    code, said = ended(started(table, tmp_path, "--gap", "5%", "--resume"))
    assert code == 0 and "SDC520" in said and "other options" in said
    assert not checkpoint.exists()
    code, said = ended(started(table, tmp_path, "--gap", "5%", "--resume"))
    assert code == 0 and "there is none" in said
