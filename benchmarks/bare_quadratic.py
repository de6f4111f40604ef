"""HiGHS's own solvers for quadratic programs on the closest table in L2, as they come: what ours is measured against.

HiPO where it is installed (it is not part of every build of HiGHS), and the active set method, `qpasm`.
"""

from __future__ import annotations

from math import inf

import highspy
import numpy as np
from patterns import linear_program
from scipy.sparse import csc_array, csr_array

from sdcdsl.deadline import Deadline


def quadratic(
    M: csr_array, w: np.ndarray, l: np.ndarray, u: np.ndarray, deadline: Deadline | None, solver: str
) -> np.ndarray | None:
    """min Σ w z², M z = 0, l ≤ z ≤ u."""
    n = len(w)
    adds_up = np.zeros(len(M.indptr) - 1)
    highs = linear_program(csc_array(M), (l, u), np.zeros(n), (adds_up, adds_up))
    highs.setOptionValue("solver", solver)
    highs.setOptionValue("time_limit", inf if deadline is None else deadline.remaining)
    hessian = highspy.HighsHessian()
    hessian.dim_ = n
    hessian.format_ = highspy.HessianFormat.kTriangular
    hessian.start_ = np.arange(n + 1, dtype=np.int32)
    hessian.index_ = np.arange(n, dtype=np.int32)
    hessian.value_ = 2.0 * w
    highs.passHessian(hessian)
    highs.run()
    if highs.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return None
    return np.array(highs.getSolution().col_value)


def has_hipo() -> bool:
    silent = highspy.Highs()
    silent.setOptionValue("output_flag", False)
    return silent.setOptionValue("solver", "hipo") == highspy.HighsStatus.kOk
