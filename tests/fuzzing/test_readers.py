"""The short form of `make fuzz`: some hundred broken files for every reader, in a process with a memory limit."""

from __future__ import annotations

import random
from itertools import islice
from pathlib import Path

import pytest

from tests.fuzzing import running
from tests.fuzzing.mutating import mutated
from tests.fuzzing.targets import TARGETS

INPUTS = 300


@pytest.mark.long
@pytest.mark.parametrize("reader", TARGETS)
def test_neither_crash_nor_hang_nor_a_gigabyte(reader: str):
    out = running.fuzz(reader, inputs=INPUTS)
    assert out.findings == []
    assert out.inputs >= INPUTS


def test_the_same_seed_breaks_files_the_same_way():
    seeds, words = [b"one,two\n1,2\n", b"three\n"], ["x", "y"]
    first = list(islice(mutated(seeds, words, random.Random(1)), 200))
    assert first == list(islice(mutated(seeds, words, random.Random(1)), 200))
    assert first[:2] == seeds
    assert len(set(first)) > 100


# ---- a fuzzer that finds nothing must be able to find something ------------------------------------------

BROKEN = """
import time
from tests.fuzzing import targets
def read(raw, folder):
    if raw != b"seed":
        {mistake}
targets.TARGETS["broken"] = targets.Target(read, lambda: [b"seed"], ["x"])
"""


@pytest.mark.long
@pytest.mark.parametrize(
    ("mistake", "kind"),
    [
        ("raise KeyError(raw)", "KeyError"),
        ("kept = b'x' * (2 << 30)", "MemoryError"),
        ("import os; os.abort()", "the process ended with -6"),
        ("time.sleep(3600)", "hang"),
        ("while True: pass", "hang"),
    ],
)
def test_mistakes_are_found(mistake: str, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\nif 'broken' in sys.orig_argv:\n"
        + "".join(f"    {x}\n" for x in BROKEN.format(mistake=mistake).split("\n"))
    )
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:{running.ROOT}")
    monkeypatch.setattr(running, "SLEEPS", 5.0 if "sleep" in mistake else running.SLEEPS)
    monkeypatch.setattr(running, "MOST_PROCESSES", 1)
    out = running.fuzz("broken", inputs=5)
    assert [one["kind"] for one in out.findings][:1] == [one["kind"] for one in out.findings if kind in one["kind"]][:1]
    assert out.findings
