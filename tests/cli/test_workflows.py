"""The files for Snakemake and DVC, by the real programs. They have an environment of their own, made by pip once."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.test_first_policy import started
from tests.waiting import HANGS

ROOT = Path(__file__).parent.parent.parent
PROGRAMS = Path(sys.prefix) / "workflows"  # beside what is tested, so that their dependencies cannot change it

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(os.name == "nt", reason="the files call the shell"),
    pytest.mark.xdist_group("workflows"),
]


def program(name: str) -> Path:
    path = PROGRAMS / "bin" / name
    if not path.exists():
        subprocess.run([sys.executable, "-m", "venv", PROGRAMS], check=True)
        pip = [PROGRAMS / "bin" / "python", "-m", "pip", "install", "-qq", "--disable-pip-version-check"]
        made = subprocess.run([*pip, name], capture_output=True, text=True, timeout=HANGS, check=False)
        if made.returncode != 0:
            pytest.skip(f"pip cannot install {name} here")
    return path


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """In a folder with a policy and its data, and with the command on the path."""
    started(tmp_path)
    command = tmp_path / ".bin" / "sdcdsl"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m sdcdsl "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    path = os.pathsep.join([str(command.parent), str(PROGRAMS / "bin"), os.environ["PATH"]])
    env = os.environ | {"PATH": path, "DVC_NO_ANALYTICS": "1", "PYTHONPATH": str(ROOT), "HOME": str(tmp_path)}

    def call(*words: str | Path, code: int = 0) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(words, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=HANGS, check=False)
        assert done.returncode == code, done.stdout + done.stderr
        return done

    return call


def another_value(folder: Path) -> None:
    data = folder / "enterprises.csv"
    head, first, *rest = data.read_text(encoding="utf-8").splitlines()
    data.write_text("\n".join([head, first.replace(",100", ",101"), *rest]) + "\n", encoding="utf-8")


def test_snakemake_protects_when_an_input_changes(tmp_path: Path, run) -> None:
    snakemake = program("snakemake")
    shutil.copy(ROOT / "integrations/snakemake/Snakefile", tmp_path)
    run(snakemake, "-c1")
    lock = tmp_path / "release/internal/first.sdc.lock"
    before = lock.read_bytes()
    assert (tmp_path / "release/turnover-protected.csv").is_file()
    assert "Nothing to be done" in run(snakemake, "-c1").stderr
    another_value(tmp_path)
    run(snakemake, "-c1")
    assert lock.read_bytes() != before


def test_snakemake_stops_at_a_policy_with_a_mistake(tmp_path: Path, run) -> None:
    snakemake = program("snakemake")
    shutil.copy(ROOT / "integrations/snakemake/Snakefile", tmp_path)
    policy = tmp_path / "first.sdc"
    policy.write_text(policy.read_text(encoding="utf-8").replace("lpl needed", "lpl neded"), encoding="utf-8")
    assert "SDC112" in run(snakemake, "-c1", code=1).stdout
    assert not (tmp_path / "release").exists()


def test_dvc_protects_when_an_input_changes(tmp_path: Path, run) -> None:
    dvc = program("dvc")
    shutil.copy(ROOT / "integrations/dvc/dvc.yaml", tmp_path)
    run("git", "init", "-q")
    run(dvc, "init", "-q")
    run(dvc, "repro")
    lock = tmp_path / "release/internal/first.sdc.lock"
    before = lock.read_bytes()
    assert "didn't change, skipping" in run(dvc, "repro").stdout
    another_value(tmp_path)
    assert "Running stage 'protect'" in run(dvc, "repro").stdout
    assert lock.read_bytes() != before
    cached = [path.read_bytes() for path in (tmp_path / ".dvc/cache").rglob("*") if path.is_file()]
    assert before not in cached and lock.read_bytes() not in cached  # the lock is confidential
