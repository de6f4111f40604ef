"""Verdicts with kept moves, box after box, against linear programs of scipy."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from sdcdsl.accelerate.ecta.attacking import RegionAttacks
from sdcdsl.attack import engine_choice as choosing
from sdcdsl.attack import lp_engine as highs
from sdcdsl.attack.lp_engine import LpEngine
from sdcdsl.methods.instance import Instance
from tests.methods.oracle import Oracle, furthest
from tests.methods.tiny_tables import tiny_table


@pytest.fixture
def solvers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables too large for a tableau, for once: here none is small enough for one."""
    monkeypatch.setattr(choosing, "TUNING", replace(choosing.TUNING, large_tableau=0))


@pytest.mark.parametrize("seed", range(12))
def test_the_same_verdicts_as_without_memory(seed: int):
    _same_verdicts(seed)


@pytest.mark.usefixtures("solvers")
@pytest.mark.parametrize("seed", range(12))
def test_the_same_verdicts_by_a_solver_that_goes_on(seed: int):
    _same_verdicts(seed)


@pytest.mark.usefixtures("solvers")
def test_a_solver_is_set_up_once_for_all_boxes(monkeypatch: pytest.MonkeyPatch):
    made = []

    class Counted(LpEngine):
        def __init__(self, *of: Any):
            made.append(of)
            super().__init__(*of)

    monkeypatch.setattr(highs, "LpEngine", Counted)
    instance = Instance(tiny_table(3))
    attacks = RegionAttacks(instance)
    size = np.maximum(np.abs(instance.a), 1.0)
    asked = []
    for width in (2.0, 1.0, 0.5, 0.25):
        attacks.short(instance.a - width * size, instance.a + width * size)
        asked.append(attacks.questions)
    assert asked[-1] > asked[0]
    assert len(made) == 1


def _same_verdicts(seed: int) -> None:
    problem = tiny_table(seed)
    instance, oracle = Instance(problem), Oracle(problem)
    attacks = RegionAttacks(instance)
    draw = np.random.default_rng(seed)
    size = np.maximum(np.abs(instance.a), 1.0)
    attacks.prepare(instance.a - 0.3 * size, instance.a + 0.3 * size)
    for width in (0.4, 2.0, 0.8, 1.2, 0.8):
        open_ = draw.random(instance.n) < 0.9
        low = instance.a - open_ * size * draw.uniform(0.2, 1.0, instance.n) * width
        high = instance.a + open_ * size * draw.uniform(0.2, 1.0, instance.n) * width
        expected = set()
        for pair, (attacker, cell) in enumerate(oracle.pairs):
            down, up = oracle._slack[attacker]
            ends = np.minimum(down, instance.a - low), np.minimum(up, high - instance.a)
            lpl, upl, spl = oracle.levels[:, pair]
            most = 2 * max(lpl, upl, spl)
            reach = [furthest(oracle.M, *ends, cell, side, most) for side in (0, 1)]
            if reach[0] < lpl * (1 - 1e-7) or reach[1] < upl * (1 - 1e-7) or sum(reach) < spl * (1 - 1e-7):
                expected.add(pair)
        assert {clash.pair for clash in attacks.short(low, high)} == expected
        assert {clash.pair for clash in attacks.short(low, high, exact=True)} == expected


def test_later_tables_need_no_questions():
    problem = tiny_table(3)
    instance = Instance(problem)
    attacks = RegionAttacks(instance)
    size = np.abs(instance.a)
    first = attacks.short(instance.a - size, instance.a + size)
    asked = attacks.questions
    assert asked or first
    again = attacks.short(instance.a - 1.01 * size, instance.a + 1.02 * size)
    assert {clash.pair for clash in again} <= {clash.pair for clash in first}
    if not first:
        assert attacks.questions == asked
