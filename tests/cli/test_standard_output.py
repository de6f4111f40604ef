"""Exit codes where standard output is closed or full: they tell what was done, not what could be printed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from sdcdsl.cli import exits
from tests.cli.investment import POLICY
from tests.conftest import ROOT

pytestmark = pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
OUTPUTS = {"full": ">/dev/full", "all full": ">/dev/full 2>/dev/full", "closed": ">&-", "all closed": ">&- 2>&-"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    text = POLICY.replace("LEVELS", "lpl 5\n  upl 8\n  cost value").replace("csp", 'csp\n  release csv "out.csv"')
    (tmp_path / "p.sdc").write_text(text, encoding="utf-8")
    return tmp_path


def shell(folder: Path, command: str, output: str) -> subprocess.CompletedProcess[str]:
    """`output` is what a shell makes of standard output; a closed pipe has a reader that went away before."""
    line = f"{sys.executable} -m sdcdsl {command} {output}"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        ["bash", "-c", line], cwd=folder, env=environment, capture_output=True, text=True, timeout=600, check=False
    )


@pytest.mark.parametrize("output", OUTPUTS)
def test_files_written_is_success(folder: Path, output: str):
    got = shell(folder, "protect p.sdc", OUTPUTS[output])
    assert got.returncode == exits.DONE, got.stderr
    assert (folder / "out.csv").is_file() and (folder / "p.sdc.lock").is_file()
    assert ("all files are written" in got.stderr) == (output == "full")


@pytest.mark.long
def test_a_reader_that_went_away(folder: Path):
    ended = "| true; exit ${PIPESTATUS[0]}"
    got = shell(folder, "protect p.sdc", ended)
    assert got.returncode == exits.DONE and got.stderr == ""
    got = shell(folder, "audit p.sdc", ended)  # nothing but the sensitive cell is hidden
    assert got.returncode == exits.EXPOSED and got.stderr == ""
    assert shell(folder, "methods", ended).returncode == exits.DONE


@pytest.mark.long
def test_a_result_that_cannot_be_printed(folder: Path):
    for command in ("methods", "protect p.sdc --no-report --no-lock --json", "plan p.sdc"):
        if "protect" in command:  # without a release its product is what it prints
            text = (folder / "p.sdc").read_text(encoding="utf-8")
            (folder / "p.sdc").write_text(text.replace('release csv "out.csv"', ""), encoding="utf-8")
        got = shell(folder, command, ">/dev/full")
        assert got.returncode == exits.UNPRINTED, command
        assert "standard output cannot be written: No space left on device" in got.stderr
    assert shell(folder, "audit p.sdc", ">/dev/full").returncode == exits.EXPOSED


@pytest.mark.long
def test_nothing_is_printed_into_files_that_take_the_place_of_a_closed_output(folder: Path):
    """The first file that is opened would have the number of standard output."""
    assert shell(folder, "protect p.sdc", ">&-").returncode == exits.DONE
    assert shell(folder, "verify p.sdc.lock", "").returncode == exits.DONE
