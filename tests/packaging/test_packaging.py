"""What a release consists of: wheels that are the same bytes each time, pinned versions, manual pages, completions."""

from __future__ import annotations

import hashlib
import importlib.util
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

from sdcdsl.cli import COMMANDS
from tests.conftest import ROOT

PACKAGING = ROOT / "packaging"


@pytest.fixture(scope="module")
def manual() -> ModuleType:
    spec = importlib.util.spec_from_file_location("manual", PACKAGING / "manual.py")
    assert spec is not None and spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = made
    spec.loader.exec_module(made)
    return made


def test_every_command_has_a_manual_page(manual: ModuleType, tmp_path: Path) -> None:
    pages = manual.pages()
    assert pages.keys() == {"sdcdsl.1", *(f"sdcdsl-{name}.1" for name in COMMANDS)}
    assert "\\-\\-time\\-limit TIME" in pages["sdcdsl-protect.1"]
    groff = shutil.which("groff")
    for name, text in pages.items():
        assert text.startswith(".TH ") and ".SH SYNOPSIS" in text
        (tmp_path / name).write_text(text, encoding="utf-8")
        if groff is not None:
            command = [groff, "-man", "-ww", "-z", "-Kutf8", "-Tutf8", str(tmp_path / name)]
            said = subprocess.run(command, capture_output=True, text=True, check=False)
            assert said.returncode == 0 and not said.stderr, said.stderr


def test_completions_are_those_of_the_program(manual: ModuleType) -> None:
    made = manual.completions()
    assert made.keys() == {"sdcdsl.bash", "sdcdsl.zsh", "sdcdsl.fish"}
    for name, text in made.items():
        assert f"_SDCDSL_COMPLETE={name.removeprefix('sdcdsl.')}_complete" in text


def test_pinned_versions_are_those_that_the_package_takes() -> None:
    """Every dependency is pinned, with hashes, within the range that pyproject.toml states; no host is named."""
    packaging = pytest.importorskip("packaging.requirements")
    stated = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["dependencies"]
    for file in ("requirements.txt", "requirements-lowest.txt"):
        text = (PACKAGING / file).read_text("utf-8")
        assert "://" not in text
        pinned = dict(re.findall(r"^([\w.-]+)==([\w.]+)", text, re.M))
        assert text.count("--hash=sha256:") >= len(pinned)
        for line in stated:
            one = packaging.Requirement(line)
            assert one.specifier.contains(pinned[one.name.lower()]), (file, line)


def test_the_container_is_not_run_by_root_and_fetches_nothing() -> None:
    """No engine runs it here; what can be read off the file is."""
    text = (PACKAGING / "Containerfile").read_text("utf-8")
    last = text[text.rindex("FROM ") :]
    assert re.search(r"^USER (?!root)\w+$", last, re.M)
    assert "--no-index" in last and "--require-hashes" in text
    for name in re.findall(r"packaging/[\w.-]+", text):
        assert (ROOT / name).is_file(), name


@pytest.mark.long
def test_two_builds_are_the_same_bytes(tmp_path: Path) -> None:
    made: list[dict[str, str]] = []
    for name in ("first", "second"):
        # A copy: times and places of files are not what decides.
        source = tmp_path / name / "source"
        kept = ("sdcdsl", "grammar", "specs", "schemas", "pyproject.toml", "README.md", "LICENSE")
        for one in kept:
            path = ROOT / one
            if path.is_dir():
                shutil.copytree(
                    path, source / one, ignore=shutil.ignore_patterns("__pycache__"), copy_function=shutil.copy
                )
            else:
                source.mkdir(parents=True, exist_ok=True)
                shutil.copy(path, source / one)
        out = tmp_path / name / "out"
        command = [sys.executable, "-m", "pip", "wheel", "-qq", "--no-deps", "-w", str(out), str(source)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            pytest.skip(f"no wheel can be built here: {done.stderr[-200:]}")
        made.append({path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in out.iterdir()})
    assert made[0] == made[1] and made[0]
