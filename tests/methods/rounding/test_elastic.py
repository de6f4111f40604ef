"""Tables of multiples from the relaxation, whose sums start outside their windows."""

from __future__ import annotations

import numpy as np
import pytest

from sdcdsl.methods.mixed.search import Search
from sdcdsl.methods.result import Clock
from sdcdsl.methods.rounding.elastic import DEARER, RISING, Elastic, elastic
from sdcdsl.methods.rounding.method import shape
from sdcdsl.methods.rounding.neighbourhoods import Neighbourhoods
from sdcdsl.methods.rounding.parts import Parts, parts_of
from tests.attack.tables import cross, flat
from tests.methods.tiny_tables import made


def started(seed: int, steps: int = 0) -> tuple[Search, Parts, Neighbourhoods]:
    """A cube in base 3; every part is taken to be rounded up, so that sums are several multiples too high."""
    n, relations = cross([flat(3), flat(3), flat(4)])
    a = np.zeros((4, 4, 5))
    a[1:, 1:, 1:] = np.random.default_rng(seed).integers(0, 20, (3, 3, 4))
    for axis in range(3):
        a[(slice(None),) * axis + (0,)] = a.sum(axis=axis)
    problem = made(n, relations, a.ravel(), [])
    said = shape(problem, {"base": 3.0, "steps": steps})
    forms = said.forms
    search = Search(forms.instance, forms.into.problem(), forms.open & forms.instance.may_open, said.published)
    at, of = forms.at, search.problem
    parts = parts_of(forms.instance, at, of.lower[at.multiple], of.upper[at.multiple])
    assert parts is not None
    search.relaxed_at = search.master.upper.copy()
    own = at.multiple[parts.cells]
    movable = search.master.lower[own] < search.master.upper[own]
    return search, parts, Neighbourhoods(forms.instance, parts, movable, np.random.default_rng(seed))


@pytest.mark.parametrize("steps", [0, 1])
@pytest.mark.parametrize("seed", range(4))
def test_it_ends_within_all_windows_however_far_outside_it_starts(seed: int, steps: int):
    search, parts, around = started(seed, steps)
    at = search.published.at
    best = search.master.solve()
    assert best.x is not None
    start = Elastic(search, at, parts)
    assert start.x[start.count :].max() > 1  # further than the next multiple
    met: list[float] = []

    def found(x: np.ndarray) -> bool:
        u = x * search.problem.unit
        assert search.problem.allows(at.completed(np.round(u)))
        met.append(float(search.master.cost @ x))
        return len(met) < 5

    elastic(search, at, parts, around, Clock(20), seed, found)
    assert met
    assert min(met) >= best.objective - 1e-6
    # Where every step has the whole table, what is within all windows at any price is the best there is.
    met.clear()
    around.ways = [way for way in around.ways if not way.across]
    for way in around.ways:
        way.size = float(len(parts.cells))
    elastic(search, at, parts, around, Clock(20), seed, found)
    assert met[0] == pytest.approx(best.objective)


def test_what_is_outside_gets_dearer_than_the_rest():
    search, parts, _ = started(0)
    of = Elastic(search, search.published.at, parts)
    out = of.outside
    before = of.master.cost.copy()
    of.dearer(0.5)
    assert np.allclose(of.master.cost[out], DEARER**0.5 * before[out])
    inside = np.setdiff1d(np.arange(of.count, len(before)), out)
    assert np.allclose(of.master.cost[inside], RISING**0.5 * before[inside])
    of.cheap()
    assert np.allclose(of.master.cost[of.count :], RISING**0.5 * before[of.count :])
    assert np.array_equal(of.master.cost[: of.count], before[: of.count])


def test_the_slice_that_holds_a_sum_is_among_those_that_move():
    search, parts, around = started(1)
    of = Elastic(search, search.published.at, parts)
    near = of.near(int(of.outside[0]))
    assert len(near) > 1
    for way in around.ways:
        way.size = 1.0  # one slice
    for _ in range(20):
        way, free = around.drawn(near)
        assert way.across or free[near].any()
