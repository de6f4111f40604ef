from collections.abc import Sequence
from typing import Any

class OptimizeResult:
    """Of `linprog` and `milp`; where there is no solution `x` and `fun` are None."""

    x: Any
    fun: Any
    status: int
    success: bool
    message: str
    mip_dual_bound: Any
    mip_gap: Any
    ineqlin: Any
    eqlin: Any

class Bounds:
    def __init__(self, lb: Any = ..., ub: Any = ...) -> None: ...

class LinearConstraint:
    def __init__(self, A: Any, lb: Any = ..., ub: Any = ...) -> None: ...

def linprog(
    c: Any,
    A_ub: Any = None,
    b_ub: Any = None,
    A_eq: Any = None,
    b_eq: Any = None,
    bounds: Any = (0, None),
    method: str = "highs",
    *,
    options: dict[str, Any] | None = None,
) -> OptimizeResult: ...
def milp(
    c: Any,
    *,
    integrality: Any = None,
    bounds: Bounds | Sequence[Any] | None = None,
    constraints: LinearConstraint | Sequence[LinearConstraint] | None = None,
    options: dict[str, Any] | None = None,
) -> OptimizeResult: ...
