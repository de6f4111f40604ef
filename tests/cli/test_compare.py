"""`sdcdsl compare` as a person runs it: the table, the document, the files; and that nothing is ever released."""

from __future__ import annotations

import contextlib
import csv
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner, Result

from sdcdsl.cli import cli
from sdcdsl.executing.team import DEATHS
from tests.cli.protecting import files
from tests.pipeline.others import environment, others  # noqa: F401
from tests.waiting import HANGS


def run(*arguments: object) -> Result:
    result = CliRunner().invoke(cli, ["compare", *map(str, arguments)], prog_name="sdcdsl")
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exc_info
    return result


def compared(*arguments: object) -> dict[str, Any]:
    result = run(*arguments, "--json", "--progress", "none")
    out = json.loads(result.stdout)
    assert out["exit"] == result.exit_code
    return out


def timeless(document: dict[str, Any]) -> list[dict[str, Any]]:
    return [{name: value for name, value in one.items() if name != "seconds"} for one in document["runs"]]


@pytest.mark.long
def test_side_by_side(policy, tmp_path):
    """One comparison for what many tests would run again: order, document, files, and that `release` is not heard."""
    path = policy("method csp", 'release csv "out.csv"')
    before, text = files(tmp_path), path.read_text()
    out = tmp_path / "map"
    methods = "csp, cta, csp(cap_hidden: 1)"
    two = compared(path, "--methods", methods, "--levels", "2,1", "--jobs", 2, "--out", out)
    one = compared(path, "--methods", methods, "--levels", "1,2,100%", "--jobs", 1)
    assert timeless(two) == timeless(one)
    assert files(tmp_path) == before | {"map/compare.svg", "map/compare.json", "map/compare.csv"}
    assert not any(file.stat().st_mode & 0o077 for file in out.iterdir())
    assert path.read_text() == text
    assert two["schema"] == "sdcdsl-compare/1" and two["levels"] == [1, 2]
    names = [(r["variant"], r["level"]) for r in two["runs"]]
    variants = ["csp", "cta", "csp(cap_hidden: 1)"]
    assert names == [(variant, level) for variant in variants for level in (1, 2)]
    by_name = dict(zip(names, two["runs"], strict=True))
    own = by_name["csp", 1]
    assert (own["objective"], own["verdict"], own["hidden"]) == (59, "protected", 4)
    assert (own["attackers_median"], own["risk"]) == (pytest.approx(2500 / 22), pytest.approx(1300 / 38))
    assert {r["status"] for (variant, _), r in by_name.items() if "cap" in variant} == {"infeasible"}
    assert [r["attacked"] for r in two["runs"][:4]] == [True, True, False, False]
    assert json.loads((out / "compare.json").read_text())["runs"] == two["runs"]
    table = list(csv.DictReader((out / "compare.csv").open(encoding="utf-8")))
    assert [row["variant"] for row in table] == [name for name, _ in names]
    assert float(table[0]["loss"]) == pytest.approx(100 * 59 / 760)
    drawn = ElementTree.parse(out / "compare.svg").getroot()
    marks = [run for mark in drawn.iter() if (run := mark.get("data-run"))]
    assert sorted(marks) == sorted(f"{variant} ×{level:g}" for variant, level in names)


def test_the_table(policy):
    result = run(policy("method csp"), "--methods", "csp(cap_hidden: 1),rounding,cta", "--jobs", 1)
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[0] == "investment: 3 methods at 1 level; nothing is released"
    assert lines[2].split()[:3] == ["method", "levels", "verdict"] and "intervals" not in lines[2]
    assert "infeasible" in lines[4] and "no attacker" in lines[6] and "far enough" in lines[6]
    assert "chosen      rounding × 1: base 10" in lines
    assert any(line.startswith("no release  csp(cap_hidden: 1) × 1: no release of") for line in lines)
    assert len({len(line) for line in lines[4:7]}) == 1  # all end with the same column


def test_nothing_found_at_all(policy):
    found = compared(policy("method csp"), "--methods", "csp(cap_hidden: 1)", "--jobs", 1)
    assert (found["exit"], [r["verdict"] for r in found["runs"]]) == (4, [None])


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("--methods", "cspp"), 1, "did you mean `csp`?"),
        (("--methods", "cta(nrm: L2)"), 1, "did you mean `norm`?"),
        (("--levels", "0,1"), 2, "factors are positive numbers"),
        (("--levels", "two"), 2, "neither a number nor a percentage"),
        (("--block", "investmnt"), 2, "did you mean `investment`?"),
        (("--methods", " , "), 2, "no method is left to run"),
        (("--out", "investment.sdc"), 3, "is not a folder"),
    ],
)
def test_mistakes_are_found_before_anything_runs(policy, tmp_path, monkeypatch, arguments, code, said):
    path = policy("method csp")
    monkeypatch.chdir(tmp_path)
    result = run(path, *arguments)
    assert result.exit_code == code
    assert said in result.output
    assert files(tmp_path) == {"investment.sdc"}


def test_files_that_are_read_are_not_overwritten(policy, tmp_path):
    path = policy("method csp")
    (tmp_path / "compare.json").mkdir()
    assert run(path, "--out", tmp_path).exit_code == 3
    path = path.rename(tmp_path / "compare.csv")
    result = run(path, "--out", tmp_path)
    assert "compare.csv cannot be written: it holds what is to be protected" in " ".join(result.output.split())


def test_several_blocks(policy):
    path = policy("method csp")
    path.write_text(
        path.read_text() + "\nprotect investment as again {\n  lpl 1\n  against external\n  method csp\n}\n"
    )
    result = run(path)
    assert result.exit_code == 2 and "--block investment" in result.output


# ---- Ctrl-C ---------------------------------------------------------------------------------------------


class Running:
    def __init__(self, site: Path, *arguments: object) -> None:
        command = [sys.executable, "-m", "sdcdsl", "compare", *map(str, arguments), "--progress", "events"]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            command, env=environment(site), text=True, start_new_session=True, stdout=pipe, stderr=pipe
        )

    def press(self) -> None:
        os.killpg(self.process.pid, signal.SIGINT)  # a terminal tells everybody

    def end(self) -> tuple[int, str]:
        out, err = self.process.communicate(timeout=HANGS)
        assert "Traceback" not in err
        return self.process.returncode, out


def test_stopped_runs_are_told_and_ended_ones_are_shown(policy, others):  # noqa: F811
    running = Running(others, policy("method csp"), "--methods", "enumeration,endless", "--jobs", 1, "--json")
    assert running.process.stderr is not None
    event = json.loads(running.process.stderr.readline())
    assert (event["event"], event["method"], event["verdict"]) == ("run", "enumeration", "protected")
    running.press()
    code, out = running.end()
    document = json.loads(out)
    assert (code, document["exit"]) == (0, 0)
    assert [(r["status"], r["verdict"]) for r in document["runs"]] == [("optimal", "protected"), ("stopped", None)]


@pytest.mark.long
def test_a_run_that_no_process_survives_is_a_row(policy, others):  # noqa: F811
    running = Running(others, policy("method csp"), "--methods", "stubborn,enumeration", "--jobs", 1, "--json")
    killed: set[int] = set()
    for _ in range(DEATHS):
        worker = _child(running.process.pid, killed)
        os.kill(worker, signal.SIGKILL)
        killed.add(worker)
    code, out = running.end()
    first, second = json.loads(out)["runs"]
    assert (code, first["status"], second["verdict"]) == (0, "failed", "protected")
    assert "its process ended with code -9" in first["why"]


@pytest.mark.long
def test_a_run_whose_process_dies_once_is_made_again(policy, others):  # noqa: F811
    running = Running(others, policy("method csp"), "--methods", "enumeration", "--jobs", 1, "--json")
    os.kill(_child(running.process.pid, set()), signal.SIGKILL)
    code, out = running.end()
    [row] = json.loads(out)["runs"]
    assert (code, row["status"], row["verdict"], row["objective"]) == (0, "optimal", "protected", 59)


def _child(parent: int, but: set[int]) -> int:
    """The process that works, as soon as it is there."""
    listed = Path(f"/proc/{parent}/task")
    if not listed.exists():
        pytest.skip("the system does not tell who its children are")
    until = time.monotonic() + HANGS
    while time.monotonic() < until:
        for child in _children(listed):
            with contextlib.suppress(OSError):
                if child not in but and b"sdcdsl.executing.worker" in Path(f"/proc/{child}/cmdline").read_bytes():
                    return child
    raise AssertionError("no process was started")


def _children(threads: Path) -> list[int]:
    found: list[int] = []
    for one in threads.iterdir():  # a child belongs to the thread that started it
        with contextlib.suppress(OSError):
            found += map(int, (one / "children").read_text().split())
    return found
