"""Releases that were interrupted, as the next command finds them: journals of others, of now, and of strangers.

That every kill leaves what is expected here is the affair of `tests/faults/test_kills.py`.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from sdcdsl.report import journal, staging
from sdcdsl.report.journal import FORWARD, settle, settle_around
from sdcdsl.report.release import Staged
from tests.conftest import ROOT

NAME = staging.NAME


def everything(folder: Path) -> dict[str, str]:
    return {str(p.relative_to(folder)): p.read_text() for p in sorted(folder.rglob("*")) if p.is_file()}


@pytest.fixture
def interrupted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two folders; the release of a new `a`, `deep/b` and `lock` is decided, and nothing of it has its name."""
    folder = tmp_path / "work"
    (folder / "deep").mkdir(parents=True)
    for name in ("a", "deep/b", "lock"):
        (folder / name).write_text(f"old {name}")
    staged = Staged()
    for name in ("a", "deep/b", "lock"):
        staged.beside(folder / name).write_text(f"new {name}")
    with monkeypatch.context() as patched:  # as a kill: nobody takes it back
        patched.setattr(journal, "put_in_place", lambda moves: None)
        patched.setattr(journal, "close", lambda base: None)
        staged.rename()
    return folder


OLD = {name: f"old {name}" for name in ("a", "deep/b", "lock")}
NEW = {name: f"new {name}" for name in ("a", "deep/b", "lock")}


@pytest.mark.parametrize("found", [".", "deep"])
def test_it_is_finished_from_any_of_its_folders(interrupted: Path, found: str):
    assert everything(interrupted) != NEW
    assert [d.code for d in settle(interrupted / found)] == ["SDC517"]
    assert everything(interrupted) == NEW
    assert settle(interrupted) == []


def test_a_damaged_file_means_the_old_release(interrupted: Path):
    (staged,) = interrupted.glob(f"{NAME}/*/a")
    staged.write_text("new a, cut off")
    [said] = settle(interrupted)
    assert "taken back" in said.headline
    assert everything(interrupted) == OLD


def test_a_folder_in_the_way_means_the_old_release(interrupted: Path):
    (interrupted / "deep" / "b").unlink()
    (interrupted / "deep" / "b").mkdir()
    assert "taken back" in settle(interrupted)[0].headline
    assert everything(interrupted) == {"a": "old a", "lock": "old lock"}


def test_a_copy_is_not_followed(interrupted: Path, tmp_path: Path):
    copy = tmp_path / "copy"
    shutil.copytree(interrupted, copy)
    before = everything(copy)
    [said] = settle(copy)
    assert said.code == "SDC518" and "copy" in said.headline
    assert everything(copy) == before


HOSTILE = {
    "no JSON": lambda content: "{",
    "another form": lambda content: {**content, "form": 2},
    "a list": lambda content: [],
    "no inodes": lambda content: {**content, "inodes": []},
    "a name that climbs": lambda content: _first(content, name="../../outside"),
    "an absolute name": lambda content: _first(content, name="/etc/passwd"),
    "the folder itself": lambda content: _first(content, name=".."),
    "another folder": lambda content: _first(content, folder=7),
    "a slot that is no number": lambda content: _first(content, slot="../.."),
    "files that climb": lambda content: _first(content, files={"../../x": "0"}),
    "a digest that is none": lambda content: _first(content, files={"": 5}),
}


def _first(content: dict, **changes: object) -> dict:
    return {**content, "moves": [{**content["moves"][0], **changes}, *content["moves"][1:]]}


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_journals(interrupted: Path, kind: str):
    path = interrupted / NAME / FORWARD
    made = HOSTILE[kind](json.loads(path.read_text()))
    path.write_text(made if isinstance(made, str) else json.dumps(made))
    before = everything(interrupted.parent)
    assert [d.code for d in settle_around([interrupted / "lock"])] == ["SDC518"]
    assert everything(interrupted.parent) == before


def test_a_staging_folder_that_is_a_link(tmp_path: Path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "kept").write_text("kept")
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / NAME).symlink_to(tmp_path / "elsewhere")
    assert [d.code for d in settle(tmp_path / "work")] == ["SDC518"]
    assert (tmp_path / "elsewhere" / "kept").read_text() == "kept"


def test_a_folder_that_claims_the_journal_of_another(interrupted: Path, tmp_path: Path):
    """Only what both say is believed: what was left in the folder goes, and the other one is as it was."""
    stranger = tmp_path / "stranger"
    (stranger / NAME).mkdir(parents=True)
    (stranger / NAME / "of").write_text(json.dumps({"base": str(interrupted), "inode": 1}))
    before = everything(interrupted)
    assert [d.code for d in settle(stranger)] == ["SDC517"]
    assert everything(interrupted) == before and not list(stranger.iterdir())


@pytest.mark.skipif(sys.platform == "win32", reason="needs flock")
def test_a_release_that_is_under_way_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(staging, "PATIENCE", 0.2)
    staged = Staged()
    staged.beside(tmp_path / "a").write_text("new a")
    [said] = settle(tmp_path)
    assert said.code == "SDC518" and "another process" in said.headline
    second = Staged()
    with pytest.raises(OSError, match="another process"):
        second.beside(tmp_path / "b")
    second.discard()
    staged.rename()
    assert everything(tmp_path) == {"a": "new a"}


@pytest.mark.long
def test_releases_at_the_same_time_come_one_after_the_other(tmp_path: Path):
    """Four processes, 25 releases each, all to the same names in two folders: in the end all files are of one."""
    (tmp_path / "deep").mkdir()
    code = f"""
import sys
from pathlib import Path
from sdcdsl.report.release import Staged
folder = Path({str(tmp_path)!r})
for number in range(25):
    staged = Staged()
    paths = [folder / "a", folder / "deep" / "b", folder / "lock"]
    staged.reserve(paths if int(sys.argv[1]) % 2 else paths[::-1])
    for path in paths:
        staged.beside(path).write_text(f"{{sys.argv[1]}} {{number}}")
    staged.rename()
    assert not staged.settled
"""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    runs = [subprocess.Popen([sys.executable, "-c", code, str(i)], env=environment) for i in range(4)]
    assert [run.wait(timeout=600) for run in runs] == [0, 0, 0, 0]
    found = everything(tmp_path)
    assert set(found) == {"a", "deep/b", "lock"} and len(set(found.values())) == 1
