"""The model of controlled tabular adjustment for other solvers: known answers, every combination of senses, files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sdcdsl.audit import audit
from sdcdsl.methods.cta import model as compact
from sdcdsl.methods.cta.closest_by_model import closest
from sdcdsl.methods.cta.settings import published, settings_of
from sdcdsl.methods.result import SolveContext
from sdcdsl.solve.writing import write
from tests.methods.cta.every_sense import EverySense
from tests.methods.known import bound, expected
from tests.methods.tiny_tables import tiny_table

KNOWN = Path(__file__).resolve().parents[3] / "specs" / "known"
GOLDEN = Path(__file__).parent / "golden"
FREE = sorted(KNOWN.glob("three-by-three-*-cta.sdc"))


@pytest.mark.parametrize("path", FREE, ids=lambda path: path.stem)
def test_known_answers(path: Path):
    problem = bound(path)
    of = settings_of(problem, {"norm": "L1"})
    table = closest(of, SolveContext({}))
    status, z, bound_ = table.status, table.z, table.bound
    assert status == "optimal" and z is not None
    assert of.objective(z) == pytest.approx(expected(path)["objective"], rel=1e-9)
    assert bound_ == pytest.approx(of.objective(z), rel=1e-6)
    assert audit(problem, published(problem, z)).verdict == "protected"


@pytest.mark.parametrize("backend", ["highs", "scip"])
@pytest.mark.parametrize("seed", range(6))
def test_against_every_combination_of_senses(seed: int, backend: str):
    problem = tiny_table(seed)
    norms = ["L1", "Linf"] if backend == "highs" else ["L2"]  # HiGHS has no quadratic programs with binaries
    if backend == "scip":
        pytest.importorskip("pyscipopt")
    for norm in norms:
        of = settings_of(problem, {"norm": norm})
        if not of.of.open.any(axis=1).all():
            assert EverySense(problem).best(norm) == np.inf
            continue
        table = closest(of, SolveContext({"backend": backend}))
        status, z = table.status, table.z
        best = EverySense(problem).best(norm)
        if best == np.inf:
            assert status == "infeasible"
            continue
        if status == "failed":  # SCIP gives up at numbers of very different size, and says so
            assert backend == "scip" and z is None
            continue
        assert z is not None
        assert of.objective(z) == pytest.approx(best, rel=1e-5, abs=1e-7)
        assert audit(problem, published(problem, z)).verdict in ("protected", "nothing to check")


def test_an_adjusted_table_reads_back_from_values():
    problem = bound(KNOWN / "figure-1-L1.sdc")
    options = {"norm": "L1", "sense": "up"}
    made = compact.model(problem, SolveContext(options))
    of = settings_of(problem, options)
    z = closest(of, SolveContext(options)).z
    assert z is not None
    free = np.flatnonzero(of.of.low < of.of.high)
    values = {"z_up": np.maximum(z, 0)[free], "z_down": np.maximum(-z, 0)[free]}
    assert set(values) <= set(made.variables)
    again = compact.pattern(problem, values, SolveContext(options))
    np.testing.assert_allclose(again.value, problem.dataset["a"].values + z)
    assert compact.objective(problem, again, SolveContext(options)) == pytest.approx(36)


@pytest.mark.parametrize(
    ("file", "name", "options"),
    [
        ("three-by-three-5-8-cta", "L1-free", {"norm": "L1"}),
        ("figure-3-L2", "L2-up", {"norm": "L2", "sense": "up"}),
        ("figure-3-L2", "Linf-free", {"norm": "Linf"}),
        ("figure-3-L2", "L1L2-up", {"norm": "L1L2", "sense": "up", "omega1": 0.99, "omega2": 0.01}),
        ("three-by-three-5-8-cta", "whole", {"norm": "L1", "integer": True, "keep_totals": True}),
    ],
)
def test_the_model_as_a_file(file: str, name: str, options: dict, golden, tmp_path: Path):
    path = tmp_path / "model.lp"
    write(compact.model(bound(KNOWN / f"{file}.sdc"), SolveContext(options)), path)
    golden(GOLDEN / f"{name}.lp", path.read_text(encoding="utf-8"))
