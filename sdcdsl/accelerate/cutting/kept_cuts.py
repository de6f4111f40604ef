"""Cuts of a search that may have to go on another time: which identities they came from, and at which point.

An identity is written as the coefficients c of  sign · D_p = Σ c_i D_i.  What is read back is not that: c only says
which multipliers γ to look for, with Mᵀγ = sign · e_p - c, and the identity is formed from γ and the relations as that
of an attack is. Whatever stood in the file, it holds for every table.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from sdcdsl.accelerate.cutting.separation import Identity, Separation, identity_of
from sdcdsl.accelerate.cutting.tuning import TUNING
from sdcdsl.numerics.null_space import echelon

SMALL = 1e-12

Cut = tuple[Identity, np.ndarray | None]  # and the point of the master where it was found


class KeptCuts:
    def __init__(self) -> None:
        self._cuts: deque[Cut] = deque(maxlen=TUNING.kept_cuts)

    def __len__(self) -> int:
        return len(self._cuts)

    def add(self, identities: Iterable[Identity], point: np.ndarray | None = None) -> None:
        self._cuts.extend((identity, point) for identity in identities)

    def arrays(self, separation: Separation) -> dict[str, np.ndarray]:
        """As they are written. Sliding levels have two identities in one, and are left out."""
        cuts = [(identity, point) for identity, point in self._cuts if identity.level < separation.requirements]
        points: dict[int, np.ndarray] = {id(point): point for _, point in cuts if point is not None}
        number = {name: i for i, name in enumerate(points)}
        cells = [np.concatenate([identity.up[0], identity.down[0]]) for identity, _ in cuts]
        values = [np.concatenate([identity.up[1], -identity.down[1]]) for identity, _ in cuts]
        return {
            "cut_level": np.array([identity.level for identity, _ in cuts], dtype=np.int64),
            "cut_start": np.cumsum([0, *map(len, cells)]).astype(np.int64),
            "cut_cell": np.concatenate([np.zeros(0, dtype=np.int64), *cells]).astype(np.int64),
            "cut_value": np.concatenate([np.zeros(0), *values]),
            "cut_point": np.array([-1 if p is None else number[id(p)] for _, p in cuts], dtype=np.int64),
            "points": np.stack(list(points.values())) if points else np.zeros((0, 0)),
        }


def read_cuts(arrays: Mapping[str, np.ndarray], separation: Separation, width: int | None = None) -> Iterator[Cut]:
    """Cuts made anew from what stands in `arrays`; what makes no sense is passed over. `width`: of a point."""
    matrix, n = separation.demands.classes.matrix, separation.demands.classes.count
    reduced = echelon(matrix)
    try:
        level, start, cell = (np.asarray(arrays[f"cut_{name}"], dtype=np.int64) for name in ("level", "start", "cell"))
        value, at = np.asarray(arrays["cut_value"], dtype=float), np.asarray(arrays["cut_point"], dtype=np.int64)
        points = np.asarray(arrays["points"], dtype=float)
    except (KeyError, TypeError, ValueError):
        return
    sound = (
        reduced is not None
        and level.ndim == start.ndim == cell.ndim == value.ndim == at.ndim == 1
        and len(start) == len(level) + 1 == len(at) + 1
        and len(cell) == len(value) == start[-1]
        and start[0] == 0
        and (np.diff(start) >= 0).all()
        and ((cell >= 0) & (cell < n)).all()
        and np.isfinite(value).all()
        and ((level >= 0) & (level < separation.requirements)).all()
        and points.ndim == 2
        and (at < len(points)).all()
        and (width is None or (points.shape[1] == width and (at >= 0).all() and not np.isnan(points).any()))
    )
    if not sound or reduced is None:
        return
    transposed = matrix.sparse[reduced.row].T.tocsr()
    for k, s in enumerate(level.tolist()):
        p, sign, viewer, need = separation.target(s)
        g = np.zeros(n)
        g[p] = sign
        g[cell[start[k] : start[k + 1]]] -= value[start[k] : start[k + 1]]
        c = -(transposed @ reduced.multipliers(g))
        c[p] += sign
        cells = np.flatnonzero(np.abs(c) > SMALL * max(float(np.abs(c).max()), 1.0))
        yield identity_of(s, viewer, need, cells, c[cells]), points[at[k]] if width is not None else None
