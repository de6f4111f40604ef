import numpy as np

def dsyrk(
    alpha: float,
    a: np.ndarray,
    beta: float = 0.0,
    c: np.ndarray | None = None,
    trans: int = 0,
    lower: int = 0,
    overwrite_c: int = 0,
) -> np.ndarray: ...
