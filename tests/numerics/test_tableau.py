"""A tableau answers as a linear program does, also after its pivots have led it astray."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

from sdcdsl.numerics.simplex.tableau import CLOSED, REACHED, Tableau


def box(seed: int, rows: int = 30, dimensions: int = 6) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    draw = np.random.default_rng(seed)
    return draw.integers(-2, 3, (rows, dimensions)).astype(float), -draw.uniform(1, 9, rows), draw.uniform(1, 9, rows)


def furthest(rows: np.ndarray, lo: np.ndarray, hi: np.ndarray, target: int, sign: int) -> float:
    A, b = np.concatenate([rows, -rows]), np.concatenate([hi, -lo])
    made = linprog(-sign * rows[target], A_ub=A, b_ub=b, bounds=[(None, None)] * rows.shape[1])
    assert made.status == 0
    return -float(made.fun)


def reached(tableau: Tableau, target: int, sign: int) -> float:
    ended, _ = tableau.push(target, sign, np.inf, tableau.lo, tableau.hi)
    assert ended in (REACHED, CLOSED)
    return sign * float(tableau.x[target]) * float(tableau.slack[target])


@pytest.mark.parametrize("seed", range(3))
def test_rows_that_depend_on_each_other_make_it_begin_again(seed: int):
    rows, lo, hi = box(seed)
    tableau = Tableau(rows, lo, hi)
    assert reached(tableau, 0, 1) == pytest.approx(furthest(rows, lo, hi, 0, 1), rel=1e-9)
    tableau._nonbasic[:] = tableau._nonbasic[0]  # where errors of many pivots may lead
    tableau._freshen()
    for target, sign in ((0, -1), (3, 1), (7, -1)):
        assert reached(tableau, target, sign) == pytest.approx(furthest(rows, lo, hi, target, sign), rel=1e-9)
        assert np.abs(tableau.rows @ tableau._value[: rows.shape[1]] - tableau.x).max() < 1e-9
