"""Limits of a whole run: it ends with exit code 5, says so, and leaves nothing behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from sdcdsl.cli import cli, exits
from sdcdsl.cli.limits import Size
from tests.conftest import ROOT
from tests.waiting import HANGS, until

pytestmark = pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="limits of memory need /proc")
POLICY = """sdc 1
policy "Investment"
dimension activity { codes I, II, III; total Total }
dimension region { codes A, B, C; total Total }
table investment {
  by activity, region
  values
    | activity \\ region | A | B | C | Total |
    | I | 20 | 50 | 10 | 80 |
    | II | 8 | 19 | 22 | 49 |
    | III | 17 | 32 | 12 | 61 |
    | Total | 45 | 101 | 44 | 190 |
}
sensitive investment at (activity: II, region: C)
attacker external { bounds 0 .. inf }
protect investment {
  lpl 5
  upl 8
  against external
  method csp
  release csv "released.csv"
}
"""


def run(folder: Path, *arguments: str, before: str = "") -> subprocess.CompletedProcess[str]:
    start = f"import sys; sys.argv[0] = 'sdcdsl'\n{before}\nfrom sdcdsl.cli import main\nmain()"
    return subprocess.run(
        [sys.executable, "-c", start, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=HANGS,
        check=False,
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "p.sdc").write_text(POLICY)
    return tmp_path


@pytest.mark.parametrize(
    "arguments",
    [
        ("plan", "p.sdc", "--max-memory", "20MB"),
        ("plan", "p.sdc", "--time-limit", "0.1s"),
        ("audit", "p.sdc", "--certificate", "p.cert", "--time-limit", "0.1s"),
        ("audit", "p.sdc", "--certificate", "p.cert", "--max-memory", "20MB"),
        ("protect", "p.sdc", "--certificate", "p.cert", "--max-memory", "40MB"),
        ("protect", "p.sdc", "--certificate", "p.cert", "--max-time", "0.1s"),
        ("compare", "p.sdc", "--methods", "csp", "--out", "map", "--max-memory", "40MB"),
        ("compare", "p.sdc", "--methods", "csp", "--out", "map", "--max-time", "0.1s"),
        ("assess", "p.sdc", "--seed", "1", "--max-memory", "20MB"),
    ],
    ids=" ".join,
)
def test_ends_with_5_and_nothing_written(folder: Path, arguments: tuple[str, ...]):
    got = run(folder, *arguments)
    assert got.returncode == exits.LIMIT, got.stderr
    assert "SDC516" in got.stderr
    assert "nothing was written" in got.stderr
    assert got.stdout == ""
    assert [p.name for p in folder.iterdir()] == ["p.sdc"]


def test_in_json(folder: Path):
    got = run(folder, "protect", "p.sdc", "--json", "--max-memory", "40MB")
    said = json.loads(got.stdout)
    assert said["blocks"] == []
    assert said["exit"] == got.returncode == exits.LIMIT
    assert said["diagnostics"][0]["code"] == "SDC516"


@pytest.mark.long
def test_limits_that_are_not_reached_change_nothing(folder: Path):
    plain = run(folder, "protect", "p.sdc", "--today", "2026-01-01", "--no-report")
    written = {p.name: p.read_bytes() for p in folder.iterdir()}
    for name in ("released.csv", "p.sdc.lock"):
        (folder / name).unlink()
    watched = run(folder, "protect", "p.sdc", "--today", "2026-01-01", "--no-report", "--max-memory", "8 GB")
    assert plain.returncode == watched.returncode == exits.DONE, watched.stderr
    assert watched.stdout == plain.stdout
    assert {p.name: p.read_bytes() for p in folder.iterdir()} == written
    assert run(folder, "audit", "p.sdc", "--time-limit", "10min").returncode == exits.EXPOSED


def test_a_run_that_the_system_ends(folder: Path):
    """What the kernel does when memory is used up: it kills the process that works, not the one that watches."""
    killing = "import os, signal; from sdcdsl.pipeline import plan\n"
    killing += "plan.plan = lambda *a: os.kill(os.getpid(), signal.SIGKILL)"
    got = run(folder, "plan", "p.sdc", "--max-memory", "8GB", before=killing)
    assert got.returncode == exits.LIMIT
    assert "ran out of memory" in got.stderr


def test_no_memory_left_at_all(folder: Path):
    """Without any option, under a limit of the system: a diagnostic, not a traceback."""
    rows = "".join(f"    | c{i} | {i} |\n" for i in range(100_000))
    (folder / "large.sdc").write_text(f'sdc 1\npolicy "x"\ntable t {{\n  by a\n  values\n    | a | v |\n{rows}}}\n')
    small = "import resource, sdcdsl.cli.check, sdcdsl.policy.read, sdcdsl.cli.limits, sdcdsl.diagnostics.render.text\n"
    small += "used = int(open('/proc/self/statm').read().split()[0]) * resource.getpagesize()\n"
    small += "resource.setrlimit(resource.RLIMIT_AS, (used + 30_000_000,) * 2)"
    got = run(folder, "check", "large.sdc", before=small)
    assert got.returncode == exits.LIMIT, got.stderr
    assert "SDC516" in got.stderr


def test_somebody_elses_process_is_not_divided(folder: Path):
    """A test, a notebook or a server that calls the commands would go on twice."""
    got = CliRunner().invoke(cli, ["plan", str(folder / "p.sdc"), "--max-memory", "8GB"], prog_name="sdcdsl")
    assert got.exit_code == exits.USAGE
    assert "for the command line" in got.output


def test_whatever_was_started_ends_too(folder: Path):
    """`compare` runs methods in processes of their own."""
    got = subprocess.Popen(
        [sys.executable, "-m", "sdcdsl", "compare", "p.sdc", "--methods", "csp,ip,cta", "--max-memory", "150MB"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stderr=subprocess.PIPE,
        start_new_session=True,
        text=True,
    )
    _, said = got.communicate(timeout=HANGS)
    assert got.returncode == exits.LIMIT, said
    until(lambda: alive(got.pid) == [])


def alive(session: int) -> list[str]:
    """What still runs of a session. An orphan that nobody has buried yet does not."""
    out = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, _, rest = path.read_text().rpartition(")")
        except OSError:
            continue
        state, _, _, of = rest.split()[:4]
        if int(of) == session and state not in "ZX":
            out.append(name)
    return out


@pytest.mark.parametrize(
    ("text", "size"), [("500MB", 5 * 10**8), ("2 GB", 2 * 10**9), ("1.5g", 15 * 10**8), ("1GiB", 2**30), ("4096", 4096)]
)
def test_sizes(text: str, size: int):
    assert Size().convert(text, None, None) == size


@pytest.mark.parametrize("text", ["", "0", "-5GB", "5 parsec", "GB", "0MB"])
def test_no_sizes(text: str):
    with pytest.raises(click.BadParameter):
        Size().convert(text, None, None)
