"""L∞ by cutting planes: the same maxima as by the linear program with a row for every cell."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.sparse import csr_array, hstack, vstack

from sdcdsl.numerics.nearest import linf as linf_module
from sdcdsl.numerics.nearest.feasible import proves
from sdcdsl.numerics.nearest.linf import linf
from sdcdsl.numerics.nearest.maxima import maxima
from sdcdsl.numerics.nearest.solved import residual
from sdcdsl.status import OPTIMAL
from tests.methods.nearest.boxes import Box, csplib, random_box
from tests.shapes import shape


def least(box: Box) -> np.ndarray:
    forced = box.w * np.maximum(np.maximum(box.l, -box.u), 0.0)
    return np.array([forced[~box.sensitive].max(initial=0.0), forced[box.sensitive].max(initial=0.0)])


def reference(box: Box) -> float | None:
    """t_P + t_N by scipy, from the model as it is written; None where nothing fits."""
    m, n = shape(box.M)
    own, group = csr_array(np.diag(box.w)), np.zeros((n, 2))
    group[np.arange(n), box.sensitive.astype(int)] = -1.0
    found = linprog(
        np.append(np.zeros(n), [1.0, 1.0]),
        A_ub=vstack([hstack([own, csr_array(group)]), hstack([-own, csr_array(group)])]),
        b_ub=np.zeros(2 * n),
        A_eq=hstack([box.M, csr_array((m, 2))]),
        b_eq=np.zeros(m),
        bounds=[*zip(box.l, box.u, strict=True), (0, None), (0, None)],
    )
    assert found.status in (0, 2), found.message
    return found.fun if found.status == 0 else None


@settings(max_examples=80, deadline=None, derandomize=True)
@given(st.integers(0, 10**6))
def test_random_tables(seed):
    """Cells without prices or ends among them, levels up and down, and tables that nothing fits."""
    box = random_box(seed)
    if (box.l > box.u).any():
        return
    found = maxima(box.M, box.w, box.l, box.u, box.sensitive.astype(np.int64), least(box), None)
    assert found is not None
    expected = reference(box)
    if expected is None:
        assert found.z is None and proves(box.M, box.l, box.u, found.y)
        return
    z = found.z
    assert z is not None and (z >= box.l).all() and (z <= box.u).all() and residual(box.M, z, 1.0) <= 1e-9
    far = box.w * np.abs(z)
    assert far[box.sensitive].max(initial=0.0) + far[~box.sensitive].max(initial=0.0) == pytest.approx(
        expected, rel=1e-7, abs=1e-9
    )


@pytest.mark.parametrize("name", ["hier13x7x7d", "hier13", "table7", "targus"])
def test_the_same_as_with_a_row_for_every_cell(name, monkeypatch):
    box = csplib(name)
    monkeypatch.setattr(linf_module, "_few_relations", lambda M: True)
    monkeypatch.setattr(linf_module, "_program", lambda *args: pytest.fail("rows"))
    made = linf(box.M, box.w, box.l, box.u, box.sensitive)
    monkeypatch.undo()
    monkeypatch.setattr(linf_module, "_few_relations", lambda M: False)
    by_rows = linf(box.M, box.w, box.l, box.u, box.sensitive)
    assert made.status == by_rows.status == OPTIMAL
    assert made.objective == pytest.approx(by_rows.objective, rel=1e-7)
    assert made.bound == pytest.approx(made.objective, rel=1e-7)


def test_where_relations_are_many_it_is_left_to_rows(monkeypatch):
    box = csplib("hier13")
    monkeypatch.setattr(linf_module, "maxima", lambda *args: pytest.fail("cuts"))
    assert linf(box.M, box.w, box.l, box.u, box.sensitive).status == OPTIMAL


def test_one_maximum_is_paid_for_by_the_other():
    """A sensitive cell that rises by 4 or more, beside one part of it that is free and one that is sensitive itself and
    cheap: what the first does not take over the other has to. Both maxima are above what levels force."""
    M = csr_array([[1.0, 1.0, -1.0]])
    box = Box(
        M,
        np.ones(3),
        np.array([1.0, 0.5, 0.01]),
        np.array([-10.0, -10.0, 4.0]),
        np.array([10.0, 10.0, 10.0]),
        np.array([False, True, True]),
    )
    made = linf(M, box.w, box.l, box.u, box.sensitive)
    assert made.status == OPTIMAL
    assert made.objective == pytest.approx(reference(box), rel=1e-9)
    assert made.objective == pytest.approx(2.0)  # all of it by the part that costs half


def test_when_the_time_is_over_it_is_left_to_others():
    class Expired:
        expired, remaining = True, 0.0

        def mark_time_dependent(self, decided: bool = True) -> None: ...

    box = csplib("hier13")
    assert maxima(box.M, box.w, box.l, box.u, box.sensitive.astype(np.int64), least(box), Expired()) is None  # type: ignore[arg-type]
