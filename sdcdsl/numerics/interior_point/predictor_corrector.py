"""One step of Mehrotra's primal–dual interior point method, whatever the linear system behind it.

Slacks s > 0 and multipliers λ > 0 stand in families of arrays. The caller solves the Newton equations

    s dλ + λ ds = aim,    and what ties ds and dλ to its own variables

for a given `aim`; here is what all such methods share: the predictor aims at 0 and shows how far μ = sᵀλ / pairs can
fall, the corrector aims at the centre that follows from it, less the second-order term that the predictor left out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

Family = tuple[np.ndarray, ...]
Change = TypeVar("Change")  # of the caller's own variables

# The change of the caller's variables, ds, and dλ. ds and dλ are 0 where there is no constraint.
Direction = Callable[[Family], tuple[Change, Family, Family]]


@dataclass(frozen=True, eq=False)
class Step(Generic[Change]):
    change: Change
    ds: Family
    dl: Family
    primal: float  # step lengths: 0 < length ≤ 1
    dual: float


def predictor_corrector(
    s: Family, l: Family, pairs: int, direction: Direction[Change], back: float, least_centring: float = 0.0
) -> Step[Change]:
    """Where λ = 0 there is no constraint. `back`: share of the way to the boundary that a step takes. `least_centring`:
    share of μ that the corrector aims at, at least."""
    mu = complementarity(s, l) / pairs
    _, ds, dl = direction(tuple(-a * b for a, b in zip(s, l, strict=True)))
    ahead = complementarity(moved(s, ds, min(1.0, ratio_test(s, ds))), moved(l, dl, min(1.0, ratio_test(l, dl))))
    centre = mu * min(max((ahead / pairs / mu) ** 3, least_centring), 1.0) if mu > 0 else 0.0
    aim = tuple(np.where(b > 0, centre - a * b - c * d, 0.0) for a, b, c, d in zip(s, l, ds, dl, strict=True))
    change, ds, dl = direction(aim)
    return Step(change, ds, dl, min(1.0, back * ratio_test(s, ds)), min(1.0, back * ratio_test(l, dl)))


def complementarity(s: Family, l: Family) -> float:
    return sum(float((a * b).sum()) for a, b in zip(s, l, strict=True))


def moved(x: Family, dx: Family, step: float) -> Family:
    return tuple(a + step * d for a, d in zip(x, dx, strict=True))


def ratio_test(x: Family, dx: Family) -> float:
    """The longest step that keeps all of x ≥ 0; inf if nothing decreases."""
    step = np.inf
    for a, d in zip(x, dx, strict=True):
        down = d < 0
        if down.any():
            step = min(step, float((a[down] / -d[down]).min()))
    return step
