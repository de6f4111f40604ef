"""SCIP with cuts that are found while it runs: covering problems whose rows it is not told, tried out in full."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.sparse import csr_array

from sdcdsl.solve import SolveLimits, Status
from sdcdsl.solve.scip import Cut, branch_and_cut

pytest.importorskip("pyscipopt", reason="the extra `scip` is not installed")


class Covering:
    """min w x, A x ≥ b, x binary; SCIP is told two rows, the others are the family."""

    def __init__(self, seed: int, n: int = 9, m: int = 12):
        draw = np.random.default_rng(seed)
        self.n = n
        self.A = (draw.random((m, n)) < 0.3) * draw.integers(1, 4, (m, n)).astype(float)
        self.A[np.arange(m), draw.integers(0, n, m)] = 1.0
        self.b = np.minimum(self.A.sum(axis=1), draw.integers(1, 4, m)).astype(float)
        self.w = draw.integers(1, 10, n).astype(float)
        self.asked: list[tuple[np.ndarray, bool]] = []

    @property
    def told(self) -> tuple[csr_array, np.ndarray]:
        return csr_array(self.A[:2]), self.b[:2]

    def separate(self, x: np.ndarray, integral: bool) -> list[Cut]:
        self.asked.append((x, integral))
        worst = np.flatnonzero(self.A @ x < self.b - 1e-6)[:1]
        return [(np.flatnonzero(self.A[i]), self.A[i][self.A[i] != 0], float(self.b[i])) for i in worst]

    def best(self) -> float:
        points = np.array(list(product((0.0, 1.0), repeat=self.n)))
        return float((points @ self.w)[(points @ self.A.T >= self.b).all(axis=1)].min())

    def solve(self, **more):
        zeros, ones = np.zeros(self.n), np.ones(self.n)
        limits = more.pop("limits", SolveLimits())
        separate = more.pop("separate", self.separate)
        return branch_and_cut(self.w, zeros, ones, ones > 0, self.told, separate, limits, **more)


@pytest.mark.parametrize("monotone", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_the_best_of_all(seed: int, monotone: bool):
    cover = Covering(seed)
    found = cover.solve(monotone=monotone)
    assert found.status is Status.OPTIMAL
    assert found.objective == pytest.approx(cover.best())
    assert found.values is not None and (cover.A @ found.values >= cover.b).all()
    assert all((x == np.round(x)).all() for x, integral in cover.asked if integral)


def test_a_start_is_taken_and_bad_ones_are_not():
    cover = Covering(1)
    heard: list[float] = []
    found = cover.solve(start=np.ones(cover.n), on_incumbent=lambda x, objective: heard.append(objective))
    assert found.objective == pytest.approx(cover.best())
    assert max(heard) <= cover.w.sum()
    assert heard == sorted(heard, reverse=True)
    assert heard[-1] == pytest.approx(cover.best())
    assert cover.solve(start=np.zeros(cover.n)).objective == pytest.approx(cover.best())


def test_no_candidate_passes_a_family_that_refuses_all():
    """x0 ≥ 2 cannot be; a family that always finds something leaves nothing."""
    cover = Covering(2)
    found = cover.solve(separate=lambda x, integral: [(np.array([0]), np.array([1.0]), 2.0)])
    assert (found.status, found.values) == (Status.INFEASIBLE, None)


def test_continuous_columns_too():
    """min y with y ≥ |x - 2.5| by tangents, x whole: y = 0.5."""

    def separate(v: np.ndarray, integral: bool) -> list[Cut]:
        both = [(np.array([0, 1]), np.array([-1.0, 1.0]), -2.5), (np.array([0, 1]), np.array([1.0, 1.0]), 2.5)]
        return [cut for cut in both if (cut[1] @ v) < cut[2] - 1e-9]

    nothing = csr_array((0, 2)), np.zeros(0)
    ends = np.zeros(2), np.array([9.0, np.inf])
    found = branch_and_cut(np.array([0.0, 1.0]), *ends, np.array([True, False]), nothing, separate, SolveLimits())
    assert found.status is Status.OPTIMAL
    assert found.objective == pytest.approx(0.5)
    assert found.values is not None
    assert found.values[0] in (2, 3)


def test_an_error_in_separation_is_not_lost():
    def broken(x: np.ndarray, integral: bool) -> list[Cut]:
        raise KeyError("broken")

    with pytest.raises(KeyError, match="broken"):
        Covering(3).solve(separate=broken)


def test_a_promise_that_is_not_kept():
    def falling(x: np.ndarray, integral: bool) -> list[Cut]:
        return [(np.array([0]), np.array([-1.0]), 1.0)]

    with pytest.raises(ValueError, match="negative coefficient"):
        Covering(3).solve(separate=falling, monotone=True)


def test_no_time_is_a_limit():
    found = Covering(4).solve(limits=SolveLimits(time=0.0))
    assert (found.status, found.values) == (Status.LIMIT, None)
