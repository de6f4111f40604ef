"""Surveys that go on with the engine of an earlier one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sdcdsl.attack import tableau_engine as dense
from sdcdsl.attack.engine import Engine
from sdcdsl.attack.engine_choice import Engines
from sdcdsl.attack.reduction import Component
from sdcdsl.attack.survey import settle
from sdcdsl.attack.task import AttackTask, OwnKnowledge, TaskPairs
from sdcdsl.numerics.null_space import RelationMatrix
from sdcdsl.numerics.simplex import tableau


def grid(rows: int, columns: int, seed: int) -> Component:
    """A table with its margins, every cell between two ends of its own."""
    rng = np.random.default_rng(seed)
    cell = np.arange((rows + 1) * (columns + 1)).reshape(rows + 1, columns + 1)
    lines = [*cell, *cell.T]
    start = np.concatenate([[0], np.cumsum([len(line) for line in lines])])
    value = np.concatenate([np.append(np.ones(len(line) - 1), -1.0) for line in lines])
    tight = rng.random(cell.shape) < 0.3  # they stop the others
    width = np.where(tight, 1.0, 20.0).ravel()
    l, u = -rng.uniform(0.1, 1, cell.size) * width, rng.uniform(0.1, 1, cell.size) * width
    matrix = RelationMatrix(start, np.concatenate(lines), value, cell.size)
    return Component(cell.ravel(), np.arange(len(lines)), matrix, l, u)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(4))
def test_ends_are_the_same_whatever_the_engine_was_asked_before(seed: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(dense, "TUNING", replace(dense.TUNING, inner_from=0))
    monkeypatch.setattr(tableau, "TABLEAU", replace(tableau.TABLEAU, eager=0))
    component = grid(4, 5, seed)
    rng = np.random.default_rng(seed)
    cell = np.repeat(rng.permutation(30)[:12], 3)  # three attackers each, who see the same
    pairs = TaskPairs(cell, np.tile(np.arange(3), 12), rng.uniform(0.1, 6, (2, 36)), np.zeros(36))
    engines = Engines()
    task = AttackTask(component, pairs, OwnKnowledge.nothing(), 3, engine="dense", to_the_end=True)
    first = settle(task, engines=engines)
    known = np.where(first.closed, first.reached, np.nan)
    again = settle(replace(task, exact=True, to_the_end=False, settled=known), engines=engines)
    alone = settle(replace(task, exact=True, engine="highs"))
    assert (again.closed | first.closed).all() and alone.closed.all()
    reached = np.where(first.closed, first.reached, again.reached)
    np.testing.assert_allclose(reached, alone.reached, rtol=1e-7)


class Remembering(Engines):
    """An engine that has been asked everything before, by another survey."""

    def new(self, component: Component, asked: str | None = None) -> Engine:
        engine = super().new(component, asked)
        answer = engine.push
        engine.push = lambda *question: replace(answer(*question), again=True)  # type: ignore[method-assign,assignment]
        return engine


def test_an_end_that_another_survey_found_counts():
    matrix = RelationMatrix(np.array([0, 2]), np.array([0, 1]), np.array([1.0, -1.0]), 2)
    component = Component(np.arange(2), np.arange(1), matrix, np.array([-10.0, -4.0]), np.array([10.0, 5.0]))
    pairs = TaskPairs(np.array([0]), np.array([0]), np.ones((2, 1)), np.zeros(1))
    found = settle(AttackTask(component, pairs, OwnKnowledge.nothing(), 1, exact=True), engines=Remembering())
    assert found.reached[:, 0].tolist() == pytest.approx([4, 5])
