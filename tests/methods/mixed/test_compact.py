"""The first models as files: the smallest case of each form."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sdcdsl.cli.compiling import MODELS
from sdcdsl.solve.writing import write
from tests.attack.tables import cross, flat
from tests.methods.tiny_tables import made

GOLDEN = Path(__file__).parent / "golden"
HALF = np.array([True, True, False, False])
CASES = {
    "rounding": ("rounding", {"base": 5.0}),
    "rounding-steps": ("rounding", {"base": 5.0, "steps": 1}),
    "perturb": ("perturb", {"range": (np.full(4, -3.0), np.full(4, 4.0)), "cap_changed": 3}),
    "combined": ("combined", {"suppress": HALF, "interval": ~HALF, "min_width": 2.0}),
}


@pytest.mark.parametrize("name", CASES)
def test_the_model_as_a_file(name: str, golden, tmp_path: Path):
    """Three parts and their total; the first part is sensitive."""
    method, options = CASES[name]
    n, relations = cross([flat(3)])
    a = np.array([18.0, 3.0, 7.0, 8.0])
    problem = made(n, relations, a, [(0, 1)], levels=np.array([[1.0], [2.0], [0.0]]))
    path = tmp_path / "model.lp"
    write(MODELS[method].model(problem, options), path)
    golden(GOLDEN / f"{name}.lp", path.read_text(encoding="utf-8"))
