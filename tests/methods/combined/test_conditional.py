"""Conditional levels (paper 003 §7) in mixtures: every set of touched cells, the first model, single methods."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from sdcdsl.bind.problem import TableProblem
from tests.methods.conditioned import Conditioned, conditional, tables
from tests.methods.mixed.asking import asked, close, first_model
from tests.methods.mixed.every_rounding import EveryRounding
from tests.methods.tiny_tables import made


def everywhere(problem: TableProblem) -> np.ndarray:
    return np.ones(problem.n, dtype=bool)


@pytest.mark.parametrize(("shape", "seed"), tables())
def test_hidden_cells_as_in_cell_suppression(shape: str, seed: int):
    problem = conditional(seed, shape)
    result = asked(problem, "combined", suppress=everywhere(problem))
    best = Conditioned(problem).cheapest()
    assert result.status == ("infeasible" if best is None else "optimal")
    assert close(result.objective, best)
    assert close(result.objective, asked(problem, "csp").objective)


@pytest.mark.parametrize(("shape", "seed"), tables())
def test_intervals_as_in_interval_protection(shape: str, seed: int):
    problem = conditional(seed, shape)
    result = asked(problem, "combined", interval=everywhere(problem))
    other = asked(problem, "ip")
    assert result.status == other.status
    assert close(result.objective, other.objective)


@pytest.mark.parametrize(
    ("shape", "seed"), [("one dimension", 0), ("2-D", 1), ("2-D", 3), ("hierarchy", 2), ("linked", 4)]
)
def test_hidden_cells_and_intervals_by_trying_every_set(shape: str, seed: int):
    problem = conditional(seed, shape)
    suppress = np.random.default_rng(seed).random(problem.n) < 0.5
    result = asked(problem, "combined", suppress=suppress, interval=~suppress)
    best = Conditioned(problem).cheapest_mixture(suppress)
    assert result.status == ("infeasible" if best is None else "optimal")
    assert close(result.objective, best)


@pytest.mark.parametrize("seed", range(6))
def test_all_forms_as_the_first_model_has_them(seed: int):
    problem, draw = conditional(seed, "2-D"), np.random.default_rng(seed)
    form = draw.integers(0, 5, problem.n)
    form[problem.dataset["status"].values == "u"] = draw.integers(0, 2)
    size = max(float(np.abs(problem.dataset["a"].values).max()), 1.0)
    options = {
        "suppress": form == 0,
        "interval": form == 1,
        "perturb": np.where(form == 2, 0.3 * size, np.nan),
        "round": np.where(form == 3, size, np.nan),
    }
    assert close(asked(problem, "combined", **options).objective, first_model(problem, "combined", **options))


@pytest.mark.parametrize("seed", range(6))
def test_a_rounded_cell_is_touched_in_any_case(seed: int):
    problem = conditional(seed, "2-D")
    base = np.ceil(2 * max(float(np.abs(problem.dataset["a"].values).max()), 1.0))
    always = replace(problem, dataset=problem.dataset.drop_vars("conditional"))
    result = asked(problem, "combined", round=np.full(problem.n, base))
    best = EveryRounding(always, base).best()
    assert close(result.objective, best if np.isfinite(best) else None)


def test_a_level_that_cannot_be_had_keeps_a_cell_as_it_is():
    """Row and column of a square, one side hidden, the other in intervals. Beside the sensitive cell one of 2 owes
    levels: upwards it has the 7 of the cell it moves against, downwards no more than its own 2."""
    relations = [[(-1.0, 4), (1.0, 0), (1.0, 1)], [(-1.0, 5), (1.0, 2), (1.0, 3)]]
    relations += [[(-1.0, 6), (1.0, 0), (1.0, 2)], [(-1.0, 7), (1.0, 1), (1.0, 3)]]
    a = np.array([10.0, 2.0, 8.0, 7.0, 12.0, 15.0, 18.0, 9.0])
    forms: dict[str, Any] = {
        "interval": np.isin(np.arange(8), [1, 3, 7]),
        "suppress": np.isin(np.arange(8), [0, 2, 4, 5, 6]),
    }

    def owing(lpl: float, upl: float) -> TableProblem:
        levels = np.array([[2.0, lpl], [2.0, upl], [0.0, 0.0]])
        plain = made(8, relations, a, [(0, 0), (0, 1)], levels=levels)
        status = np.array(["u", *"sss", *"zzzz"])
        return replace(
            plain,
            dataset=plain.dataset.assign(status=("cell", status), conditional=("pair", np.array([False, True]))),
        )

    assert asked(owing(0, 0), "combined", **forms).objective == pytest.approx(2 + 2 * (2 + 2))
    assert asked(owing(0, 5), "combined", **forms).objective == pytest.approx(2 + 2 * (2 + 5))
    assert asked(owing(3, 0), "combined", **forms).status == "infeasible"
