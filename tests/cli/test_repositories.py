"""Policies in repositories: revisions in `diff`, the diff driver of git, `check --fix`, the script of the action."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from sdcdsl.cli import cli
from sdcdsl.cli.exits import CHANGES, DONE, USAGE, WRONG_POLICY
from tests.conftest import ROOT

HOUSE = "sdc 1\n\nattacker external {\n  bounds 0 .. inf\n}\n"
POLICY = """sdc 1

use "house.sdc" as office

policy "Turnover"

table t {
  jj "t.jj"
}

protect t {
  lpl 10% of value
  upl 10% of value
  against office.external
  method csp
}
"""
pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="there is no git on this machine")


def git(folder: Path, *words: str) -> str:
    who = ["-c", "user.name=Somebody", "-c", "user.email=somebody@example.org", "-c", "core.hooksPath=/dev/null"]
    done = subprocess.run(["git", *who, *words], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    git(tmp_path, "init", "-q", "-b", "main")
    folder = tmp_path / "policies"
    folder.mkdir()
    (folder / "house.sdc").write_text(HOUSE, encoding="utf-8")
    (folder / "main.sdc").write_text(POLICY, encoding="utf-8")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-q", "-m", "One")
    (folder / "house.sdc").write_text(HOUSE.replace("0 .. inf", "50% of value .. 150% of value"), encoding="utf-8")
    (folder / "main.sdc").write_text(POLICY.replace("upl 10%", "upl 20%"), encoding="utf-8")
    git(tmp_path, "commit", "-q", "-a", "-m", "Two")
    monkeypatch.chdir(folder)
    return tmp_path


def run(*words: str):
    return CliRunner().invoke(cli, list(words), prog_name="sdcdsl")


def test_a_revision_is_compared_with_the_files_of_its_time(repository: Path) -> None:
    done = run("diff", "HEAD~1:main.sdc", "main.sdc")
    assert done.exit_code == CHANGES
    assert "upl 20% of value" in done.output and "bounds 50% of value" in done.output
    assert run("diff", "HEAD:main.sdc", "main.sdc").exit_code == DONE
    assert run("diff", "HEAD~1:main.sdc", "HEAD:main.sdc").exit_code == CHANGES


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("HEAD:other.sdc", "no policies/other.sdc in HEAD"),
        ("nowhere:main.sdc", "nowhere"),
        ("HEAD~9:main.sdc", "HEAD~9"),
    ],
)
def test_what_is_not_there_is_said(repository: Path, name: str, why: str) -> None:
    done = run("diff", name, "main.sdc")
    assert done.exit_code == USAGE and why in done.output


def test_cells_of_a_revision_are_refused(repository: Path) -> None:
    done = run("diff", "HEAD~1:main.sdc", "main.sdc", "--cells")
    assert done.exit_code == USAGE and "check the revision out" in done.output


def test_git_shows_the_meaning_of_a_change(repository: Path) -> None:
    command = f"{sys.executable} -m sdcdsl diff --driver"
    (repository / ".gitattributes").write_text("*.sdc diff=sdc\n", encoding="utf-8")
    shown = git(repository, "-c", f"diff.sdc.command={command}", "diff", "HEAD~1", "--", "policies")
    assert "policy policies/main.sdc" in shown and "tighter" in shown and "upl 20% of value" in shown
    (repository / "policies/new.sdc").write_text(HOUSE, encoding="utf-8")
    git(repository, "add", "-A")
    assert "a new policy" in git(repository, "-c", f"diff.sdc.command={command}", "diff", "--cached")


def test_what_is_certain_is_put_right_in_place(tmp_path: Path) -> None:
    (tmp_path / "house.sdc").write_text(HOUSE, encoding="utf-8")
    path = tmp_path / "main.sdc"
    path.write_text(POLICY.replace("10% of", "10 % of").replace("csp", "csp {\n    gap 1,5%\n  }"), encoding="utf-8")
    done = run("check", "--fix", str(path))
    assert done.exit_code == DONE, done.output
    assert "3 replacements" in done.output
    assert path.read_text(encoding="utf-8") == POLICY.replace("csp", "csp {\n    gap 1.5%\n  }")


def test_what_could_be_meant_in_two_ways_is_left_to_the_author(tmp_path: Path) -> None:
    path = tmp_path / "main.sdc"
    text = 'sdc 1\n\nsensitive by dominance(2,85%)\n\ntabel t {\n  jj "t.jj"\n}\n'
    path.write_text(text, encoding="utf-8")
    assert run("check", "--fix", str(path)).exit_code == WRONG_POLICY
    assert path.read_text(encoding="utf-8") == text
    assert run("check", "--fix", "-").exit_code == USAGE


def test_the_script_of_the_action_says_what_changed(repository: Path, tmp_path: Path) -> None:
    command = tmp_path / "bin" / "sdcdsl"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m sdcdsl "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    (repository / "policies/new.sdc").write_text(HOUSE, encoding="utf-8")
    git(repository, "add", "-A")
    env = os.environ | {"PATH": f"{command.parent}:{os.environ['PATH']}"}
    script = ["bash", str(ROOT / "integrations/changes.sh"), "HEAD~1"]
    shown = subprocess.run(script, cwd=repository, env=env, capture_output=True, text=True, check=True).stdout
    assert "### policies/main.sdc" in shown and "tighter" in shown
    assert "### policies/new.sdc\n\nA new policy." in shown
