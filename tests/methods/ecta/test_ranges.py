"""Where published values may lie: against a search over values with the region of `pattern.ecta` itself."""

from __future__ import annotations

import numpy as np
import pytest

from sdcdsl.methods.ecta.ranges import Own, known_too_well
from sdcdsl.methods.instance import Instance
from sdcdsl.pattern import ecta
from tests.methods.tiny_tables import changed, made

INF = np.inf


def one_cell(a: float, levels: tuple[float, float, float], bounds=(-INF, INF), view=(-INF, INF)):
    """A cell and another one that share no relation worth the name."""
    relation = [(1.0, 0), (1.0, 1), (-1.0, 2)]
    values = np.array([a, 5.0, a + 5.0])
    low, high = np.array([view[0], -INF, -INF]), np.array([view[1], INF, INF])
    problem = made(3, [relation], values, [(0, 0)], views=[(low, high)], levels=np.array([levels]).T)
    lb, ub = np.full(3, -INF), np.full(3, INF)
    lb[0], ub[0] = bounds
    return changed(problem, lb=lb, ub=ub)


def works(a: float, levels, alpha: float, v: np.ndarray, bounds, view) -> bool:
    """Whether some of the values leaves the levels slack: literally."""
    lpl, upl, spl = levels
    v = v[(np.abs(v - a) <= alpha * abs(a) * (1 + 1e-12)) & (v >= bounds[0]) & (v <= bounds[1])]
    pattern = ecta(v, np.ones(len(v), dtype=bool), alpha, 0.0)
    low, high = np.maximum(pattern.low, view[0]), np.minimum(pattern.high, view[1])
    slack = 1e-9 * abs(a)
    wide = (high - low >= spl - slack) if spl else True
    down = (low <= a - lpl + slack) if lpl else True
    up = (high >= a + upl - slack) if upl else True
    return bool(np.any(np.ones(len(v), dtype=bool) & wide & down & up))


@pytest.mark.parametrize("seed", range(60))
def test_the_smallest_alpha_is_the_smallest(seed: int):
    draw = np.random.default_rng(seed)
    a = float(draw.choice([-1, 1]) * draw.uniform(1, 100))
    size = abs(a)
    levels = tuple(size * draw.choice([0.0, 1.0], 3, p=[0.3, 0.7]) * draw.uniform(0.01, 0.9, 3) * [1, 1, 1.2])
    bounds = (a - size * draw.uniform(0.05, 1), a + size * draw.uniform(0.05, 1)) if seed % 3 == 0 else (-INF, INF)
    view = (a - size * draw.uniform(1, 2), a + size * draw.uniform(1, 2)) if seed % 2 else (-INF, INF)
    own = Own(Instance(one_cell(a, levels, bounds, view)))
    smallest = float(own.smallest()[0])
    if not any(levels):
        assert smallest == 0.0
        return

    def tried(alpha: float) -> bool:
        ends = np.concatenate([np.linspace(a - alpha * size, a + alpha * size, 40_001), bounds])
        return works(a, levels, alpha, ends[np.isfinite(ends)], bounds, view)

    if np.isinf(smallest):
        assert not tried(0.9999)
        return
    assert not tried(smallest * 0.998)
    if smallest * 1.003 < 1:
        assert tried(smallest * 1.003)
    alpha = min(smallest * 1.01, 1.0)
    for range_ in (own.allowed(alpha), own.drawn_from(alpha)):
        for v in (range_.low[0], range_.high[0], (range_.low[0] + range_.high[0]) / 2):
            assert works(a, levels, alpha, np.array([v]), (bounds[0] - 1e-9 * size, bounds[1] + 1e-9 * size), view)


def test_levels_as_shares():
    """lpl = upl = p a asks for α = p; p below and q above for (p + q) / (2 + q - p)."""
    for a in (40.0, -40.0):
        assert Own(Instance(one_cell(a, (12.0, 12.0, 0.0)))).smallest() == pytest.approx([0.3], rel=1e-12)
    p, q = 0.2, 0.3
    assert Own(Instance(one_cell(40.0, (8.0, 12.0, 0.0)))).smallest() == pytest.approx([(p + q) / (2 + q - p)])


def test_the_interval_of_the_paper_is_moved_and_keeps_its_width():
    own = Own(Instance(one_cell(100.0, (0.0, 0.0, 0.0), bounds=(95.0, INF))))
    drawn = own.drawn_from(0.3)
    assert (drawn.low[0], drawn.high[0]) == pytest.approx((95.0, 125.0))
    free = Own(Instance(one_cell(-100.0, (0.0, 0.0, 0.0)))).drawn_from(0.3)
    assert (free.low[0], free.high[0]) == pytest.approx((-115.0, -85.0))


def test_zero_and_whole_values_need_an_alpha_of_one():
    assert Own(Instance(one_cell(0.0, (0.0, 3.0, 0.0)))).smallest() == pytest.approx([1.0])
    assert Own(Instance(one_cell(0.0, (0.0, 0.0, 0.0)))).smallest() == pytest.approx([0.0])
    own = Own(Instance(one_cell(10.0, (10.0, 15.0, 0.0))))
    assert own.smallest() == pytest.approx([1.0])
    assert (own.allowed(1.0).low[0], own.allowed(1.0).high[0]) == (0.0, 0.0)
    assert np.isinf(Own(Instance(one_cell(10.0, (10.0, 15.0, 0.0), bounds=(1.0, INF)))).smallest()[0])


def test_what_the_attacker_knows_already():
    (clash,) = known_too_well(Instance(one_cell(10.0, (3.0, 1.0, 0.0), view=(8.0, 20.0))))
    assert (clash.pair, clash.side, clash.need, clash.reach) == (0, 0, 3.0, 2.0)
    (clash,) = known_too_well(Instance(one_cell(10.0, (1.0, 1.0, 5.0), view=(8.0, 12.0))))
    assert (clash.side, clash.need, clash.reach) == (None, 5.0, 4.0)
    assert not known_too_well(Instance(one_cell(10.0, (1.0, 1.0, 5.0))))
