"""Questions to networks that are asked in one loop give what they give one by one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sdcdsl.attack import batched_max_flow as streaming
from sdcdsl.attack import survey
from sdcdsl.attack.survey import settle
from sdcdsl.attack.task import AttackTask, Findings, OwnKnowledge, TaskPairs
from sdcdsl.numerics.compiled import kernels
from tests.attack.test_survey import grid


def task_of(seed: int, slide: bool = False, open_ended: bool = False) -> AttackTask:
    """Half of the cells of a table, some of which ask for more than they can get."""
    component = grid(6, 7, seed)
    rng = np.random.default_rng(seed)
    if seed % 2:  # whole numbers, as most tables have
        component = replace(component, l=np.floor(component.l), u=np.ceil(component.u))
    if open_ended:
        component = replace(component, u=np.where(rng.random(56) < 0.3, np.inf, component.u))
    cell = np.repeat(rng.permutation(56)[:28], 2)  # two attackers each, who see the same
    slack = np.minimum(np.stack([-component.l[cell], component.u[cell]]), 20.0)
    need = slack * rng.uniform(0.05, 1.05, (2, 56))
    both = need.sum(axis=0) * rng.uniform(0.5, 1.2, 56) if slide else np.zeros(56)
    pairs = TaskPairs(cell, np.tile(np.arange(2), 28), need, both)
    return AttackTask(component, pairs, OwnKnowledge.nothing(), 2, engine="network", watch=np.arange(56))


def one_by_one(task: AttackTask, monkeypatch: pytest.MonkeyPatch) -> Findings:
    with monkeypatch.context() as patch, kernels("fast"):
        patch.setattr(survey, "batches_pay", lambda *_: False)
        return settle(task)


def check_moves(task: AttackTask, found: Findings) -> None:
    """Every side is reached by a table that adds up and is inside its box, give or take what audits allow."""
    component = task.component
    for side, sign in ((0, -1.0), (1, 1.0)):
        for pair in np.flatnonzero(found.witness[side] >= 0):
            cells, move = found.moves[found.witness[side, pair]]
            d = np.zeros(len(component.l))
            d[cells] = move * found.step[side, pair]
            assert (np.diff(cells) > 0).all()
            np.testing.assert_allclose(component.matrix.sparse @ d, 0.0, atol=1e-9)
            assert (d <= component.u + 1e-8).all() and (d >= component.l - 1e-8).all()
            assert sign * d[task.pairs.cell[pair]] == pytest.approx(found.reached[side, pair], rel=1e-9)


@pytest.mark.parametrize("slide", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_verdicts(seed: int, slide: bool, monkeypatch: pytest.MonkeyPatch):
    task = task_of(seed, slide)
    with kernels("fast"):
        found = settle(task)
    check_moves(task, found)
    alone = one_by_one(task, monkeypatch)
    level = task.pairs.need * (1 - 1e-9)
    np.testing.assert_array_equal(found.reached >= level, alone.reached >= level)
    np.testing.assert_array_equal(
        found.reached.sum(axis=0) >= task.pairs.slide * (1 - 1e-9),
        alone.reached.sum(axis=0) >= task.pairs.slide * (1 - 1e-9),
    )
    short = {(r.side, int(p)) for r in found.refutations for p in r.pairs}
    assert short == {(r.side, int(p)) for r in alone.refutations for p in r.pairs}
    assert short, "some ask for more than there is"
    np.testing.assert_array_equal(found.still, alone.still)


@pytest.mark.parametrize("open_ended", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_exact_ends(seed: int, open_ended: bool, monkeypatch: pytest.MonkeyPatch):
    task = replace(task_of(seed, open_ended=open_ended), exact=True)
    with kernels("fast"):
        found = settle(task)
    assert found.closed.all()
    np.testing.assert_allclose(found.reached, one_by_one(task, monkeypatch).reached, rtol=1e-12)


def test_moves_are_entered_before_there_is_no_slack_for_more(monkeypatch: pytest.MonkeyPatch):
    task = task_of(1)
    monkeypatch.setattr(streaming, "TUNING", replace(streaming.TUNING, flows_at_once=3))
    with kernels("fast"):
        few = settle(task)
    monkeypatch.undo()
    with kernels("fast"):
        many = settle(task)
    np.testing.assert_array_equal(few.reached, many.reached)
    np.testing.assert_array_equal(few.witness, many.witness)
    assert len(many.moves) > 3


def test_one_by_one_where_attackers_know_more():
    task = task_of(2)
    known = OwnKnowledge(np.array([1]), task.pairs.cell[:1].copy(), np.array([-0.01]), np.array([0.01]))
    with kernels("fast"):
        found = settle(replace(task, known=known))
    mine = (task.pairs.attacker == 1) & (task.pairs.cell == known.cell[0])
    assert (found.reached[:, mine] <= 0.01 + 1e-9).all()
