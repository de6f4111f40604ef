"""Kernels of several files: a copy on disk is not used when a file changed that it was made from."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("numba")

CALLEE = """
from sdcdsl.numerics.compiled import kernel

@kernel
def inner(a):
    return a[0] + {}
"""
BETWEEN = """
from sdcdsl.numerics.compiled import kernel
from callee import inner

@kernel
def middle(a):
    return inner(a) * 10
"""
CALLER = """
import numpy as np
from sdcdsl.numerics.compiled import kernel
from between import middle

@kernel
def outer(a):
    return middle(a) + 100

print(outer.plain(np.ones(1)), outer.fast(np.ones(1)), sum(outer.fast.stats.cache_hits.values()))
"""


DIRECT = """
import numpy as np
from callee import inner

print(inner.fast(np.ones(1)))
"""


def ran(folder: Path, script: str = "caller.py") -> list[float]:
    root = Path(__file__).parents[2]
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(folder), str(root)]),
        "NUMBA_CACHE_DIR": str(folder / "kept"),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    made = subprocess.run(
        [sys.executable, str(folder / script)], env=environment, capture_output=True, text=True, check=True
    )
    return [float(word) for word in made.stdout.split()]


def test_a_change_two_files_away_is_seen(tmp_path: Path):
    for name, text in (("callee", CALLEE.format(1)), ("between", BETWEEN), ("caller", CALLER)):
        (tmp_path / f"{name}.py").write_text(text)
    assert ran(tmp_path) == [120, 120, 0]
    assert ran(tmp_path) == [120, 120, 1]  # from disk
    (tmp_path / "callee.py").write_text(CALLEE.format(3))
    assert ran(tmp_path)[:2] == [140, 140]


def test_a_change_of_a_number_that_another_module_defines_is_seen(tmp_path: Path):
    named = CALLEE.format("STEP").replace("import kernel\n", "import kernel\nfrom tuning import STEP\n")
    for name, text in (("tuning", "STEP = 1"), ("callee", named), ("between", BETWEEN), ("caller", CALLER)):
        (tmp_path / f"{name}.py").write_text(text)
    assert ran(tmp_path) == [120, 120, 0]
    assert ran(tmp_path) == [120, 120, 1]
    (tmp_path / "tuning.py").write_text("STEP = 3")
    assert ran(tmp_path)[:2] == [140, 140]


def test_the_copy_for_other_kernels_is_not_taken_for_the_one_that_python_calls(tmp_path: Path):
    for name, text in (("callee", CALLEE.format(1)), ("between", BETWEEN), ("caller", CALLER), ("direct", DIRECT)):
        (tmp_path / f"{name}.py").write_text(text)
    assert ran(tmp_path) == [120, 120, 0]  # keeps copies of `inner` and `middle` that Python cannot call
    assert ran(tmp_path, "direct.py") == [2]
    assert ran(tmp_path, "direct.py") == [2]
