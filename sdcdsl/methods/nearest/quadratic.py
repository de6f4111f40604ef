"""HiGHS's solvers for quadratic programs, for what the dual Newton method cannot do: HiPO where it is installed, the
active set method for small tables elsewhere."""

from __future__ import annotations

from math import inf

import highspy
import numpy as np
from scipy.sparse import csc_array, csr_array, diags_array, hstack
from scipy.sparse.linalg import lsqr

from sdcdsl.attack.handle import handle
from sdcdsl.methods.nearest.solved import Cost
from sdcdsl.methods.result import Clock

SMALL = 3000  # columns the active set method still ends with
APART = 1e15  # weights of squares further apart than this are not given to it: from 1e17 it writes beyond its memory


def quadratic(
    M: csr_array, cost: Cost, l: np.ndarray, u: np.ndarray, clock: Clock | None = None, solver: str | None = None
) -> tuple[np.ndarray, np.ndarray] | None:
    """z and y, unchecked; cells that cost in proportion in both directions have a column for each."""
    n = len(l)
    bent = cost.w2[cost.w2 > 0]
    if len(bent) and bent.max() > APART * bent.min():
        return None
    split = (cost.w_up > 0) | (cost.w_down > 0)
    down = np.flatnonzero(split & (l < 0))
    forth = np.where(split, np.maximum(l, 0.0), l), np.where(split, np.maximum(u, 0.0), u)
    ends = tuple(np.concatenate(pair) for pair in zip(forth, (np.maximum(-u[down], 0.0), -l[down]), strict=True))
    columns = M.tocsc()
    chosen = solver or ("hipo" if has_hipo() else "qpasm" if n + len(down) <= SMALL else None)
    if chosen is None:
        return None
    highs = handle(
        csc_array(hstack([columns, -columns[:, down]])),
        cost=np.concatenate([cost.w_up, cost.w_down[down]]),
        ends=(ends[0], ends[1]),
        presolve="choose",
        solver=chosen,
        time_limit=inf if clock is None else clock.left,
    )
    # (z⁺ - z⁻)², not z⁺² + z⁻²: a cell that costs nothing in proportion may use both columns.
    onto = csr_array(hstack([diags_array(np.ones(n)), -csr_array(diags_array(np.ones(n)))[:, down]]))
    squares = csc_array(onto.T @ diags_array(2 * cost.w2) @ onto)
    lower = _lower_triangle(squares)
    width = n + len(down)
    if lower.nnz:
        hessian = highspy.HighsHessian()
        hessian.dim_ = width
        hessian.format_ = highspy.HessianFormat.kTriangular
        hessian.start_ = np.asarray(lower.indptr, dtype=np.int32)
        hessian.index_ = np.asarray(lower.indices, dtype=np.int32)
        hessian.value_ = np.asarray(lower.data, dtype=np.float64)
        highs.passHessian(hessian)
    highs.run()
    if highs.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return None
    answer = highs.getSolution()
    return onto @ np.array(answer.col_value), np.array(answer.row_dual)


def sharper(
    M: csr_array, cost: Cost, z: np.ndarray, y: np.ndarray, l: np.ndarray, u: np.ndarray, near: float = 1e-6
) -> np.ndarray:
    """y with the least change that makes Mᵀy the slope of f at cells strictly between their ends, as it has to be:
    solvers end within their tolerances, which is more than a proof can spare."""
    least, greatest = cost.slopes(z)
    inside = (z > l + near) & (z < u - near) & (least == greatest)
    Mt = csr_array(M.T)
    lacking = (least - Mt @ y)[inside]
    return y + lsqr(Mt[np.flatnonzero(inside)], lacking, atol=1e-15, btol=1e-15)[0] if inside.any() else y


def has_hipo() -> bool:
    silent = highspy.Highs()
    silent.setOptionValue("output_flag", False)
    return silent.setOptionValue("solver", "hipo") == highspy.HighsStatus.kOk


def _lower_triangle(squares: csc_array) -> csc_array:
    entries = squares.tocoo()
    keep = (entries.row >= entries.col) & (entries.data != 0)
    lower = csc_array((entries.data[keep], (entries.row[keep], entries.col[keep])), shape=squares.shape)
    lower.sort_indices()
    return lower
