"""A HiGHS handle on relations: Σ = right-hand side over columns whose costs and ends may come with every question."""

from __future__ import annotations

from typing import Any

import highspy
import numpy as np

PRIMAL, DUAL = 4, 1  # HiGHS's names for its simplex methods

Ends = tuple[np.ndarray, np.ndarray]


def handle(
    matrix: Any,
    *,
    cost: np.ndarray | None = None,
    ends: Ends | None = None,
    equal: np.ndarray | None = None,
    maximise: bool = False,
    **options: Any,
) -> highspy.Highs:
    """`matrix` is sparse; what is not given is zero. Without presolve, which would cost more than most questions."""
    columns = matrix.tocsc()
    rows, width = (int(side) for side in columns.shape)
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = width, rows
    lp.sense_ = highspy.ObjSense.kMaximize if maximise else highspy.ObjSense.kMinimize
    lp.col_cost_ = np.zeros(width) if cost is None else cost
    lp.col_lower_, lp.col_upper_ = (np.zeros(width), np.zeros(width)) if ends is None else ends
    lp.row_lower_ = lp.row_upper_ = np.zeros(rows) if equal is None else equal
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    lp.a_matrix_.start_, lp.a_matrix_.index_, lp.a_matrix_.value_ = columns.indptr, columns.indices, columns.data
    highs = highspy.Highs()
    for option, value in {"output_flag": False, "threads": 1, "presolve": "off", **options}.items():
        highs.setOptionValue(option, value)
    highs.passModel(lp)
    return highs
