"""`sdcdsl verify` as a person runs it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from sdcdsl.cli import cli
from tests.proof.worlds import investment


def run(*arguments: str) -> Result:
    result = CliRunner().invoke(cli, ["verify", *arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return investment().write(tmp_path / "investment.jsonl")


def all_protected(tmp_path: Path) -> Path:
    case = investment()
    asked = case.problem.pairs
    asked.lpl[:], asked.upl[:], asked.spl[:] = (17, 0, 0, 12), (8, 0, 0, 0), (25, 0, 0, 20)
    case.verdicts, case.bounds = "pppp", []
    return case.write(tmp_path / "fine.jsonl")


def test_exposed_exits_6(path: Path):
    result = run(str(path))
    assert result.exit_code == 6
    assert "Investment: the certificate holds" in result.stdout
    assert "  exposed     2\n" in result.stdout
    assert "  arithmetic  exact\n" in result.stdout


def test_protected_exits_0(tmp_path: Path):
    result = run(str(all_protected(tmp_path)))
    assert result.exit_code == 0
    assert "  protected   4\n" in result.stdout


def test_not_proven_exits_6(tmp_path: Path):
    case = investment()
    case.verdicts = "pnnp"
    result = run(str(case.write(tmp_path / "open.jsonl")))
    assert result.exit_code == 6
    assert "  not proven  2\n" in result.stdout


def test_what_does_not_hold_exits_3(path: Path):
    path.write_text(path.read_text(encoding="utf-8").replace('"step":17', '"step":16'), encoding="utf-8")
    result = run(str(path))
    assert result.exit_code == 3
    assert "error[SDC402]:" in result.stdout
    assert "drive it 16 down, and 17 is required" in result.stdout
    assert "changed after it was written" in result.stdout


def test_what_cannot_be_read_exits_3(tmp_path: Path):
    result = run(str(tmp_path / "missing.jsonl"))
    assert result.exit_code == 3
    assert "error[SDC401]:" in result.stdout
    assert "no such file" in result.stdout


def test_json(path: Path, tmp_path: Path):
    result = run(str(path), "--json")
    found = json.loads(result.stdout)
    assert result.exit_code == found["exit"] == 6
    assert (found["ok"], found["pairs"], found["exposed"], found["exact"]) == (True, 4, 2, True)
    assert found["inputs"][0]["name"] == "investment.sdc"
    result = run(str(tmp_path / "missing.jsonl"), "--json")
    found = json.loads(result.stdout)
    assert result.exit_code == found["exit"] == 3
    assert (found["ok"], found["diagnostics"][0]["code"]) == (False, "SDC401")


def test_nothing_in_the_file_steers_the_terminal(tmp_path: Path):
    case = investment()
    case.labels[0] = "\x1b[31mred"
    case.verdicts = "pppp"
    result = run(str(case.write(tmp_path / "red.jsonl")))
    assert result.exit_code == 3
    assert "\x1b[31m" not in result.stdout


def test_no_solver_and_no_data_library(path: Path):
    """Who checks a certificate trusts as little code as possible."""
    code = (
        "import sys; from sdcdsl.cli import cli\n"
        "try: cli(['verify', sys.argv[1]])\n"
        "except SystemExit as end: print(end.code)\n"
        "print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True)
    *_, exit_code, modules = done.stdout.splitlines()
    assert exit_code == "6"
    loaded = {name.partition(".")[0] for name in modules.split()}
    assert "numpy" in loaded
    assert not loaded & {"highspy", "scipy", "linopy", "numba", "xarray", "polars"}
    assert not any(name.startswith(("sdcdsl.bind", "sdcdsl.policy")) for name in modules.split())
