"""Witnesses of a search that goes on with more cells."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy.linalg import null_space

from sdcdsl.accelerate.csp.known_witnesses import completed_witnesses
from sdcdsl.methods.instance import Instance
from sdcdsl.proof.witness import MoveMatrix
from tests.audit.test_families import world
from tests.bind.policies import problem_of


def test_sums_that_came_later_move_as_their_parts_do(tmp_path: Path) -> None:
    problem = problem_of(world(tmp_path, 0, unions="on"), tmp_path)
    instance, cells = Instance(problem), int(problem.dataset["published"].values.sum())
    assert cells < problem.n, "no unions"
    directions = null_space(instance.M.toarray())
    moves = directions @ np.random.default_rng(0).normal(0, 3, (directions.shape[1], 4))
    early = MoveMatrix.sorted([(np.arange(cells), move[:cells]) for move in moves.T], cells)
    made = completed_witnesses(instance, early)
    assert len(made) == 4
    for (at, d), move in zip(made, moves.T, strict=True):
        whole = np.zeros(problem.n)
        whole[at] = d
        assert np.allclose(whole, move, atol=1e-9)


def test_moves_that_do_not_add_up_are_none(tmp_path: Path) -> None:
    problem = problem_of(world(tmp_path, 0), tmp_path)
    one = MoveMatrix.sorted([(np.array([0]), np.array([1.0]))], problem.n)
    assert completed_witnesses(Instance(problem), one) == []
