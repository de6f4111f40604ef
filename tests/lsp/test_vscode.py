"""The extension for VS Code is type-checked, bundled and packed, where node and the npm registry can be reached."""

from __future__ import annotations

import json
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest

from tests.conftest import ROOT

HANG = 600.0  # seconds: packages are fetched
pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(shutil.which("npm") is None, reason="there is no npm on this machine"),
]


def npm(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["npm", *words], cwd=folder, capture_output=True, text=True, timeout=HANG, check=False)


def test_the_extension_is_packed_with_what_it_names(tmp_path: Path) -> None:
    folder = tmp_path / "vscode"
    ignore = shutil.ignore_patterns("node_modules", "out", "*.vsix")
    shutil.copytree(ROOT / "editors/vscode", folder, ignore=ignore)
    if npm(folder, "ping").returncode != 0:
        pytest.skip("the npm registry cannot be reached")
    installed = npm(folder, "install", "--no-audit", "--no-fund")
    assert installed.returncode == 0, installed.stderr
    packed = npm(folder, "run", "package")
    assert packed.returncode == 0, packed.stdout + packed.stderr
    with zipfile.ZipFile(folder / "sdc-language.vsix") as archive:
        names = archive.namelist()
        about = json.loads(archive.read("extension/package.json"))
    assert about["contributes"]["languages"][0]["extensions"] == [".sdc"]
    paths = [about["main"], *(g["path"] for g in about["contributes"]["grammars"])]
    assert {f"extension/{path.removeprefix('./')}" for path in paths} <= set(names)
