"""Slices of a table, and neighbourhoods made of them."""

from __future__ import annotations

import numpy as np
import pytest

from sdcdsl.accelerate.rounding.neighbourhoods import Neighbourhoods
from sdcdsl.accelerate.rounding.parts import Parts, parts_of
from sdcdsl.bind.problem import TableProblem
from sdcdsl.methods.instance import Instance
from sdcdsl.methods.rounding.model import shape
from tests.attack.tables import cross, flat
from tests.methods.tiny_tables import made


@pytest.fixture
def cube() -> tuple[TableProblem, Instance, Parts]:
    """Three, four and five codes, each with a total."""
    n, relations = cross([flat(3), flat(4), flat(5)])
    a = np.zeros((4, 5, 6))
    a[1:, 1:, 1:] = np.random.default_rng(0).integers(1, 9, (3, 4, 5)) * 2 + 1
    for axis in range(3):
        a[(slice(None),) * axis + (0,)] = a.sum(axis=axis)
    problem = made(n, relations, a.ravel(), [])
    forms = shape(problem, {"base": 2.0}).forms
    least, most = np.zeros(n), np.ones(n)
    parts = parts_of(forms.instance, forms.at, least, most)
    assert parts is not None
    return problem, forms.instance, parts


def test_families_divide_the_whole_table(cube):
    _, instance, parts = cube
    around = Neighbourhoods(instance, parts, np.ones(60, dtype=bool), np.random.default_rng(1))
    alone = [way.slices for way in around.ways if not way.across]
    for slices in alone:
        together = np.sort(np.concatenate(slices))
        assert np.array_equal(together, np.arange(60))  # every part once
    # No more than 24 slices: two dimensions at a time.
    assert sorted(len(slices) for slices in alone) == [12, 15, 20]
    assert len(around.ways) == 6


def test_neighbourhoods_move_what_can_move_and_grow_while_they_are_quick(cube):
    _, instance, parts = cube
    movable = np.ones(60, dtype=bool)
    movable[::3] = False
    around = Neighbourhoods(instance, parts, movable, np.random.default_rng(1))
    for _ in range(30):
        _, free = around.drawn()
        assert not (free & ~movable).any()
        assert free.any()
    way = around.ways[0]
    before = way.size = 10.0
    around.learn(way, 1.0, 0.01, True)
    assert way.size > before
    grown = way.size
    around.learn(way, 0.0, 2.0, False)
    assert way.size < grown
