"""Problems of the closest table as numbers: random ones of a few cells, those of the figures of paper 004, CSPLIB's."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import pytest
from scipy.sparse import csr_array, eye_array, kron, vstack

from sdcdsl.methods.cta.adjustment import adjustment
from tests.bind.policies import bind_file
from tests.conftest import ROOT, SHARED_DATA


@dataclass(frozen=True, eq=False)
class Box:
    M: csr_array
    a: np.ndarray
    w: np.ndarray
    l: np.ndarray
    u: np.ndarray
    sensitive: np.ndarray  # bool [cell]

    def times(self, k: float) -> Box:
        """The same table in other units; weights are 1 / value."""
        return replace(self, a=k * self.a, w=self.w / k, l=k * self.l, u=k * self.u)


def sums(*sides: int) -> csr_array:
    """Relations of a table with so many codes in each dimension, and their totals last."""
    parts = []
    for axis in range(len(sides)):
        made = csr_array(np.ones((1, 1)))
        for other, side in enumerate(sides):
            line = csr_array(np.append(np.ones(side), -1.0)[None])
            made = kron(made, line if other == axis else eye_array(side + 1))
        parts.append(made)
    return csr_array(vstack(parts))


def random_box(seed: int) -> Box:
    """One to three dimensions with weights that may be 0, fixed cells, cells without ends, levels up and down; some
    of them cannot be satisfied."""
    rng = np.random.default_rng(seed)
    sides = tuple(int(k) for k in rng.integers(2, 4, int(rng.integers(1, 4))))
    M = sums(*sides)
    a = np.ceil(rng.lognormal(3, 1.5, sides)) * (rng.random(sides) > 0.1)
    for axis in range(len(sides)):
        a = np.concatenate([a, a.sum(axis=axis, keepdims=True)], axis=axis)
    a = a.ravel()
    n = len(a)
    w = 1 / np.where(a > 0, a, 1.0) if rng.random() < 0.5 else rng.integers(0, 4, n).astype(float)
    l, u = -a, np.full(n, np.inf)
    still = (a == 0) | (rng.random(n) < rng.choice([0, 0.2, 0.5]))
    l[still] = u[still] = 0.0
    open_ended = rng.random(n) < 0.1
    l[open_ended], u[open_ended] = -np.inf, np.inf
    sensitive = (a > 0) & (rng.random(n) < rng.choice([0.1, 0.3]))
    up = rng.random(n) < 0.7
    l[sensitive], u[sensitive] = -np.inf, np.inf
    l[sensitive & up] = np.ceil(0.1 * a[sensitive & up])
    u[sensitive & ~up] = -np.ceil(0.1 * a[sensitive & ~up])
    return Box(M, a, w, l, u, sensitive)


def figure_1(more: tuple[float, ...] = (0, 0, 0, 0)) -> Box:
    """Paper 004, Figure 1: inner cells only, margins as they are, all weights 1; levels 3, 4, 2, 5 and some more."""
    rows = kron(eye_array(3), csr_array(np.ones((1, 4))))
    columns = kron(csr_array(np.ones((1, 3))), eye_array(4))
    a = np.array([10, 15, 11, 9, 8, 10, 12, 15, 10, 12, 11, 13], dtype=float)
    l, cells = -a, [0, 6, 10, 11]
    l[cells] = np.array([3, 4, 2, 5]) + np.array(more)
    sensitive = np.isin(np.arange(12), cells)
    return Box(csr_array(vstack([rows, columns])), a, np.ones(12), l, np.full(12, np.inf), sensitive)


def figure_3() -> Box:
    """a1 + a2 = a3 with a = (12, 8), and the total has to rise by 4."""
    a = np.array([12.0, 8.0, 20.0])
    l = np.array([-12.0, -8.0, 4.0])
    return Box(csr_array([[1.0, 1.0, -1.0]]), a, 1 / a, l, np.full(3, np.inf), np.array([False, False, True]))


@cache
def csplib(name: str) -> Box:
    """All senses up, weights 1 / value (1 where the value is 0)."""
    path = SHARED_DATA / "csplib" / f"{name}.jj"
    if not path.is_file():
        pytest.skip(f"{name} is not at {path}")
    made = adjustment(bind_file(ROOT / "tests" / "data_policies" / "csplib.sdc", {"t": path})["t"])
    l, u = made.box(np.ones(made.p))
    sensitive = np.zeros(made.n, dtype=bool)
    sensitive[made.cells] = True
    return Box(made.M, made.a, 1 / np.where(made.a > 0, made.a, 1.0), l, u, sensitive)
