"""The least β against the paper's linear program as it stands (¶18), solved by scipy; draws that add up."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

from sdcdsl.accelerate.ecta.tables import AdjustedTables
from sdcdsl.deadline import Deadline
from sdcdsl.methods.ecta.deviations import rounded_up
from sdcdsl.methods.ecta.ranges import Own
from sdcdsl.methods.instance import Instance
from tests.attack.tables import TREES, cross, flat
from tests.methods.tiny_tables import changed, made

SHAPES = {"2-D": [flat(5), flat(4)], "3-D": [flat(3), flat(3), flat(3)], "hierarchy": [TREES[0], flat(4)]}


def table(seed: int, shape: str):
    n, relations = cross(SHAPES[shape])
    draw = np.random.default_rng(seed)
    sums = {relation[0][1] for relation in relations}
    a = np.ceil(draw.lognormal(3, 1, n))
    if seed % 3 == 0:
        a[draw.choice(n, 3, replace=False)] = 0.0
    for relation in [*reversed(relations)] * 3:
        a[relation[0][1]] = sum(s * a[c] for s, c in relation[1:])
    inner = [i for i in range(n) if i not in sums and a[i] > 0]
    cells = [int(i) for i in draw.choice(inner, 4, replace=False)]
    levels = np.stack([0.05 * a[cells], 0.1 * a[cells], np.zeros(4)])
    problem = made(n, relations, a, [(0, p) for p in cells], w=1 / np.maximum(a, 1), levels=levels)
    if seed % 2:  # bounds that the least β runs into
        near = draw.uniform(0.0, 0.05, n)
        problem = changed(problem, lb=a - near * a, ub=np.where(near < 0.03, a + near * a, np.inf))
        problem.dataset["lb"].values[cells] = 0.0
        problem.dataset["ub"].values[cells] = np.inf
    return problem


def by_the_paper(tables: AdjustedTables, z: np.ndarray) -> float:
    """min β over v and β, two rows a cell."""
    n, size = len(z), tables.size
    others = np.flatnonzero(tables.others)
    rows = np.zeros((2 * len(others), n + 1))
    for i, cell in enumerate(others):
        rows[2 * i, [cell, n]] = 1.0, -size[cell] / 2
        rows[2 * i + 1, [cell, n]] = -1.0, -size[cell] / 2
    bounds = list(zip(tables.lb, tables.ub, strict=True))
    for cell in tables.cells:
        bounds[cell] = (z[cell], z[cell])
    M = np.hstack([tables.M.toarray(), np.zeros((tables.instance.m, 1))])
    found = linprog(
        np.append(np.zeros(n), 1.0),
        A_ub=rows,
        b_ub=np.zeros(len(rows)),
        A_eq=M,
        b_eq=np.zeros(len(M)),
        bounds=[*bounds, (0, None)],
    )
    assert found.status == 0, found.message
    return found.fun


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seed", range(4))
def test_least_beta(shape: str, seed: int):
    problem = table(seed, shape)
    instance = Instance(problem)
    own, tables = Own(instance), AdjustedTables(instance, 1.0, 1.0)
    box = tables.box(own.allowed(0.3))
    drawn = own.drawn_from(0.3)
    if not tables.any_in(box):
        pytest.skip("no table lies within these bounds")
    xi = np.random.default_rng(seed).uniform(drawn.low, drawn.high)
    z = tables.nearest(xi, box, Deadline())
    assert z is not None
    made_ = tables.least_beta(z, Deadline())
    assert made_.least == pytest.approx(by_the_paper(tables, z), rel=1e-6, abs=1e-9)
    assert made_.least <= made_.beta * (1 + 1e-11) and made_.beta <= made_.least * 1.001 + 1e-12
    for one in (z, made_.z):
        assert np.abs(instance.M @ one).max() <= 1e-9 * np.abs(instance.a).max()
        assert (one >= tables.lb - 1e-9 * tables.unit).all() and (one <= tables.ub + 1e-9 * tables.unit).all()
    np.testing.assert_array_equal(made_.z[tables.cells], z[tables.cells])
    for norm in ("L1", "L2"):
        closer = AdjustedTables(instance, 1.0, 1.0, norm).least_beta(z, Deadline())
        assert closer.beta == made_.beta
        power = 1 if norm == "L1" else 2
        lengths = [(np.where(tables.others, instance.w, 0.0) * np.abs(t.z) ** power).sum() for t in (closer, made_)]
        assert lengths[0] <= lengths[1] * (1 + 1e-6)


def test_a_draw_that_adds_up_is_kept():
    problem = table(2, "2-D")
    instance = Instance(problem)
    tables = AdjustedTables(instance, 1.0, 1.0)
    z = tables.nearest(instance.a[tables.cells], tables.box(Own(instance).allowed(0.3)), Deadline())
    assert z is not None
    np.testing.assert_allclose(z, 0.0, atol=1e-9)
    assert tables.least_beta(z, Deadline()).beta == 0.0


def test_beta_is_rounded_up():
    assert [rounded_up(x) for x in (0.0, 0.123401, 0.1234, 1.0, 0.0009999_1)] == [0.0, 0.1235, 0.1234, 1.0, 0.001]
