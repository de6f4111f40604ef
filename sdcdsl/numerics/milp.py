"""A mixed-integer problem that is solved once: min c x, l ≤ x ≤ u, low ≤ A x ≤ high, some x integer; on HiGHS.

Searches solve hundreds of small ones, so the model is handed over as it stands, with both sides of a row in one. `over`
says when it is enough, by any measure of time: the limit of HiGHS is on the wall, and other work on the machine must
not make steps worse. But HiGHS asks seldom; `seconds` on the wall are what it keeps to.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import Any

import highspy
import numpy as np
from scipy.sparse import csr_array

from sdcdsl.numerics.integrality import whole_ends
from sdcdsl.numerics.master import ANSWERS, Integral
from sdcdsl.status import FAILED, FEASIBLE, INFEASIBLE, LIMIT, OPTIMAL


@dataclass(frozen=True, eq=False)
class Ranged:
    cost: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    integer: np.ndarray  # bool [column]
    A: csr_array
    low: np.ndarray  # [row]
    high: np.ndarray


def solve_ranged(
    of: Ranged,
    *,
    start: np.ndarray | None,
    gap: float,
    close: float,
    over: Callable[[], bool],
    seconds: float,
    seed: int,
) -> Integral:
    """`gap` is a share of the objective, `close` an amount: what is within either is as good as the best."""
    highs = highspy.Highs()
    for option, value in {
        "output_flag": False,
        "threads": 1,
        "presolve": "off",  # in 1.15 it sometimes writes beyond its memory
        "mip_rel_gap": gap,
        "mip_abs_gap": close,
        "random_seed": seed,
        "time_limit": max(seconds, 0.01),
    }.items():
        highs.setOptionValue(option, value)
    highs.passModel(_model(of))
    if start is not None:
        known = highspy.HighsSolution()
        known.col_value = start.tolist()
        highs.setSolution(known)
    kinds = highspy.cb.HighsCallbackType

    def heard(kind: Any, message: Any, out: Any, into: Any, data: Any) -> None:
        if over():
            into.user_interrupt = True

    highs.setCallback(heard, None)
    highs.startCallback(kinds.kCallbackMipInterrupt)
    highs.run()
    status, info = ANSWERS.get(highs.getModelStatus(), FAILED), highs.getInfo()
    if status in (INFEASIBLE, FAILED) or info.primal_solution_status != 2:  # 2: feasible
        return Integral(status if status in (INFEASIBLE, LIMIT) else FAILED, None, inf, -inf)
    x = np.array(highs.getSolution().col_value)
    return Integral(OPTIMAL if status == OPTIMAL else FEASIBLE, x, float(of.cost @ x), float(info.mip_dual_bound))


def _model(of: Ranged) -> highspy.HighsLp:
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = len(of.cost), len(of.low)
    lp.col_cost_ = of.cost
    lp.col_lower_, lp.col_upper_ = whole_ends(of.integer, of.lower, of.upper)
    lp.row_lower_, lp.row_upper_ = of.low, of.high
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_ = of.A.indptr.astype(np.int32)
    lp.a_matrix_.index_ = of.A.indices.astype(np.int32)
    lp.a_matrix_.value_ = of.A.data.astype(float)
    whole, any_ = highspy.HighsVarType.kInteger, highspy.HighsVarType.kContinuous
    lp.integrality_ = [whole if one else any_ for one in of.integer.tolist()]
    return lp
