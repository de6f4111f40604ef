"""The first models as files: the smallest case of each form, and what a solver outside makes of it."""

from __future__ import annotations

from pathlib import Path

import highspy
import numpy as np
import pytest

from sdcdsl.bind.problem import TableProblem
from sdcdsl.deadline import Deadline
from sdcdsl.methods.result import SolveContext
from sdcdsl.methods.solving import definition, run
from sdcdsl.solve.writing import write
from tests.attack.tables import cross, flat
from tests.methods.mixed.every_rounding import EveryRounding
from tests.methods.tiny_tables import made
from tests.waiting import HANGS

GOLDEN = Path(__file__).parent / "golden"
HALF = np.array([True, True, False, False])
CASES = {
    "rounding": ("rounding", {"base": 5.0}),
    "rounding-steps": ("rounding", {"base": 5.0, "steps": 1}),
    "perturb": ("perturb", {"range": (np.full(4, -3.0), np.full(4, 4.0)), "cap_changed": 3}),
    "combined": ("combined", {"suppress": HALF, "interval": ~HALF, "min_width": 2.0}),
}


def parts_and_total() -> TableProblem:
    """Three parts and their total; the first part is sensitive."""
    n, relations = cross([flat(3)])
    a = np.array([18.0, 3.0, 7.0, 8.0])
    return made(n, relations, a, [(0, 1)], levels=np.array([[1.0], [2.0], [0.0]]))


def written(name: str, path: Path) -> Path:
    method, options = CASES[name]
    write(definition(method).model(parts_and_total(), SolveContext(options)), path)
    return path


@pytest.mark.parametrize("name", CASES)
def test_the_model_as_a_file(name: str, golden, tmp_path: Path):
    text = written(name, tmp_path / "model.lp").read_text(encoding="utf-8")
    assert text.startswith("minimize\n")
    golden(GOLDEN / f"{name}.lp", text)


@pytest.mark.parametrize("name", CASES)
def test_another_solver_finds_the_same_optimum_in_the_file(name: str, tmp_path: Path):
    """HiGHS on the file alone, against the cutting planes; the constant part of the cost is not in the file."""
    method, options = CASES[name]
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.readModel(str(written(name, tmp_path / "model.lp")))
    solver.run()
    assert solver.getModelStatus() == highspy.HighsModelStatus.kOptimal
    constant = definition(method).shape(parts_and_total(), options).forms.into.offset
    best = run(parts_and_total(), method, SolveContext(options, Deadline(HANGS)))
    assert best.status == "optimal"
    assert solver.getObjectiveValue() + constant == pytest.approx(best.objective, rel=1e-5, abs=1e-6)


def test_the_best_rounding_is_that_of_all_roundings():
    best = run(parts_and_total(), "rounding", SolveContext({"base": 5.0}, Deadline(HANGS)))
    assert best.objective == pytest.approx(EveryRounding(parts_and_total(), 5.0).best())
