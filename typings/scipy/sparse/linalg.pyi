from typing import Any, Literal

import numpy as np
from scipy.sparse import csc_array, sparray

class SuperLU:
    L: csc_array
    U: csc_array
    perm_r: np.ndarray
    perm_c: np.ndarray
    def solve(self, rhs: np.ndarray, trans: Literal["N", "T", "H"] = "N") -> np.ndarray: ...

def splu(
    A: csc_array,
    permc_spec: str | None = None,
    diag_pivot_thresh: float | None = None,
    options: dict[str, Any] | None = None,
) -> SuperLU: ...
def lsqr(A: sparray, b: np.ndarray, *, atol: float = 1e-6, btol: float = 1e-6) -> tuple[np.ndarray, Any, Any, Any]: ...
