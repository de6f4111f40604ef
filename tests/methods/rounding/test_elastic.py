"""Tables of multiples from the relaxation, whose sums start outside their windows."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from math import inf

import numpy as np
import pytest
from scipy.sparse import csr_array, vstack

from sdcdsl.accelerate.rounding.annealing import Windows
from sdcdsl.accelerate.rounding.blocks import within_blocks
from sdcdsl.accelerate.rounding.elastic import Elastic, elastic
from sdcdsl.accelerate.rounding.neighbourhoods import Neighbourhoods, SliceFamily
from sdcdsl.accelerate.rounding.parts import Parts, parts_of
from sdcdsl.accelerate.rounding.tuning import ELASTIC
from sdcdsl.methods.instance import Instance
from sdcdsl.methods.rounding.model import shape
from tests.attack.tables import cross, flat
from tests.methods.tiny_tables import made
from tests.waiting import Looks


def started(seed: int, steps: int = 0, sizes: tuple[int, ...] = (3, 3, 4)) -> tuple[Windows, Instance, Parts]:
    """A cube in base 3."""
    n, relations = cross([flat(size) for size in sizes])
    a = np.zeros([size + 1 for size in sizes])
    a[(slice(1, None),) * len(sizes)] = np.random.default_rng(seed).integers(0, 20, sizes)
    for axis in range(len(sizes)):
        a[(slice(None),) * axis + (0,)] = a.sum(axis=axis)
    forms = shape(made(n, relations, a.ravel(), []), {"base": 3.0, "steps": steps}).forms
    at, of = forms.at, forms.into.problem()
    least, most = of.lower[at.multiple], of.upper[at.multiple]
    parts = parts_of(forms.instance, at, least, most)
    assert parts is not None
    weight = np.ones(len(parts.rows))
    ends = least[parts.cells], most[parts.cells]
    windows = Windows(parts.T, parts.least, parts.most, parts.offset, weight, weight, parts.base, *ends)
    return windows, forms.instance, parts


def around(of: Windows, instance: Instance, parts: Parts, seed: int) -> Neighbourhoods:
    return Neighbourhoods(instance, parts, of.k_least < of.k_most, np.random.default_rng(seed))


def everything(of: Windows, instance: Instance, parts: Parts) -> Neighbourhoods:
    """Every step has the whole table."""
    ways = around(of, instance, parts, 0)
    ways.ways = [SliceFamily([np.arange(len(parts.cells))], False)]
    return ways


def loss(of: Windows, k: np.ndarray) -> float:
    return float(of.w_up @ np.abs(of.offset + of.base * (of.A @ k)))


def allowed(of: Windows, k: np.ndarray) -> bool:
    y = of.A @ k
    return bool((y >= of.least).all() and (y <= of.most).all() and (k >= of.k_least).all() and (k <= of.k_most).all())


def best_of_all(of: Windows) -> float:
    """By trying everything."""
    ends = zip(of.k_least.astype(int).tolist(), of.k_most.astype(int).tolist(), strict=True)
    every = np.array(list(product(*(range(low, high + 1) for low, high in ends))), dtype=float).T
    y = of.A @ every
    ok = ((y >= of.least[:, None]) & (y <= of.most[:, None])).all(axis=0)
    losses = of.w_up @ np.abs(of.offset[:, None] + of.base * y)
    return float(losses[ok].min(initial=inf))


@pytest.mark.parametrize(("steps", "sizes"), [(0, (2, 2, 3)), (1, (2, 2, 2))])
@pytest.mark.parametrize("seed", range(4))
def test_where_a_step_has_the_whole_table_it_finds_the_best_there_is(seed: int, steps: int, sizes: tuple[int, ...]):
    of, instance, parts = started(seed, steps, sizes)
    least = best_of_all(of)
    met: list[float] = []

    def found(k: np.ndarray) -> bool:
        assert allowed(of, k)
        met.append(loss(of, k))
        return False

    deadline = Looks(3)
    elastic(of, of.k_most, everything(of, instance, parts), deadline, lambda: deadline.remaining, seed, found)
    assert np.isfinite(least) == bool(met)
    assert not met or met[0] == pytest.approx(least)


@pytest.mark.parametrize("steps", [0, 1])
@pytest.mark.parametrize("seed", range(4))
def test_it_ends_within_all_windows_however_far_outside_it_starts(seed: int, steps: int):
    of, instance, parts = started(seed, steps)
    start = Elastic(of, of.k_most.copy(), seed)  # every part up: sums are several multiples too high
    assert (start.y - of.most)[start.soft].max() > 1
    met: list[np.ndarray] = []

    def found(k: np.ndarray) -> bool:
        met.append(k.copy())
        return len(met) < 2

    deadline = Looks(10)
    elastic(of, of.k_most, around(of, instance, parts, seed), deadline, lambda: deadline.remaining, seed, found)
    assert met
    assert all(allowed(of, k) for k in met)


@pytest.mark.parametrize("steps", [0, 1])
def test_a_step_gains_what_it_says(steps: int):
    """Judged by the loss itself, and by how far each sum is outside."""
    of, instance, parts = started(5, steps)
    made_of = Elastic(of, np.full(len(parts.cells), 0.5), 1)
    ways, draw = around(of, instance, parts, 5), np.random.default_rng(5)
    made_of.price = draw.integers(2, 9, len(made_of.price)).astype(float)

    def judged() -> float:
        y = of.A @ made_of.k
        near = np.clip(y, of.least, of.most)
        # Outside, a sum costs its price, and what it would cost within if that went on as it does at the end and rose.
        inner = np.abs(of.offset + of.base * near)
        end = np.where(y > near, 1.0, -1.0)
        rising = np.maximum(inner - np.abs(of.offset + of.base * (near - end)), 0.0) * (of.most > of.least)
        return float((inner + np.abs(y - near) * (rising + made_of.price)).sum())

    for _ in range(15):
        before = judged()
        _, free = ways.drawn()
        was = made_of.k.copy()
        gain, solved = made_of.step(free, lambda: False, 20.0)
        assert solved
        assert np.array_equal(was[~free], made_of.k[~free])
        assert before - judged() == pytest.approx(gain)


def test_a_cut_is_a_window_without_a_loss():
    of, instance, parts = started(2, 0, (2, 2, 3))
    more = csr_array(np.ones((1, len(parts.cells))))
    free = best_of_all(of)

    def with_cut(right: float) -> Windows:
        return replace(
            of,
            A=csr_array(vstack([of.A, more])),
            least=np.append(of.least, right),
            most=np.append(of.most, inf),
            offset=np.append(of.offset, 0.0),
            w_down=np.append(of.w_down, 0.0),
            w_up=np.append(of.w_up, 0.0),
        )

    # The dearest cut that some table keeps.
    rights = [right for right in range(len(parts.cells) + 1) if np.isfinite(best_of_all(with_cut(right)))]
    cut = with_cut(max(rights))
    met: list[np.ndarray] = []
    deadline = Looks(20)

    def found(k: np.ndarray) -> bool:
        met.append(k.copy())
        return False

    elastic(cut, of.k_least, everything(of, instance, parts), deadline, lambda: deadline.remaining, 0, found)
    assert allowed(cut, met[0])
    assert loss(of, met[0]) == pytest.approx(best_of_all(cut))
    assert loss(of, met[0]) >= free


def test_what_is_outside_gets_dearer_than_the_rest():
    of, *_ = started(0)
    made_of = Elastic(of, of.k_most.copy(), 0)
    out = made_of.outside
    assert len(out)
    before = made_of.price.copy()
    made_of.dearer(0.5)
    assert np.allclose(made_of.price[out], ELASTIC.dearer**0.5 * before[out])
    inside = np.setdiff1d(np.arange(len(before)), out)
    assert np.allclose(made_of.price[inside], ELASTIC.rising**0.5 * before[inside])
    made_of.cheap()
    assert np.allclose(made_of.price, ELASTIC.rising**0.5 * before)


def test_the_slice_that_holds_a_sum_is_among_those_that_move():
    of, instance, parts = started(1)
    made_of = Elastic(of, of.k_most.copy(), 1)
    near = made_of.near(int(made_of.outside[0]))
    assert len(near) > 1
    ways = around(of, instance, parts, 1)
    for way in ways.ways:
        way.size = 1.0  # one slice
    for _ in range(20):
        way, free = ways.drawn(near)
        assert way.across or free[near].any()


def test_pieces_are_slices_with_all_their_sums():
    """Forty by three by four: a slice of twelve parts has 20 rows, more for each part than any line or plane across."""
    n, relations = cross([flat(40), flat(3), flat(4)])
    a = np.ones((41, 4, 5))
    for axis, many in enumerate((40, 3, 4)):
        a[(slice(None),) * axis + (0,)] *= many
    forms = shape(made(n, relations, a.ravel(), []), {"base": 2.0}).forms
    parts = parts_of(forms.instance, forms.at, np.zeros(n), np.ones(n))
    assert parts is not None
    held = within_blocks(parts.T)
    cell = np.unravel_index(parts.rows[held], a.shape)
    assert (cell[0] > 0).all()
    assert held.sum() == 40 * 20


def test_sums_of_pieces_are_in_their_windows_from_the_start():
    of, *_ = started(3, 0, (8, 3, 4))
    relaxed = np.full(len(of.k_least), 0.5)
    held = within_blocks(of.A)
    assert held.any()
    made_of = Elastic(of, relaxed, 0)
    assert not np.isin(made_of.outside, np.flatnonzero(held & ~made_of.soft)).any()
    assert (made_of.k >= of.k_least).all()
    assert (made_of.k <= of.k_most).all()
