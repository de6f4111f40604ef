"""The readable core is complete on small tables: the conformance tests pass with accelerators switched off."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from sdcdsl.methods.solving import SWITCH
from tests.conformance.cases import METHODS, case
from tests.conformance.judging import judged

ROOT = Path(__file__).resolve().parents[2]
SEEDS = {"csp": (1,), "ip": (0, 2), "cta": (0, 1), "rounding": (0,), "perturb": (0,), "combined": (1,), "ecta": (3,)}


@pytest.mark.parametrize("method", METHODS)
def test_conformance_by_models_alone(method, monkeypatch):
    monkeypatch.setenv(SWITCH, "0")
    complaints = [said for seed in SEEDS[method] for said in judged(case(method, seed), models=False).complaints]
    assert not complaints, "\n".join(complaints)


@pytest.mark.long
def test_all_conformance_tests_pass_by_models_alone():
    command = [sys.executable, "-m", "pytest", "-q", "-m", "not long", "tests/conformance/test_conformance.py"]
    done = subprocess.run(
        [*command, "-p", "no:cacheprovider"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {SWITCH: "0"},
        timeout=3600,
    )
    assert done.returncode == 0, done.stdout[-4000:]
