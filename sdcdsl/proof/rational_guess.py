"""Floating-point numbers as the whole numbers or fractions they were meant to be: guesses, for others to check."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

DENOMINATORS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 24, 60)
SCALES = sorted({10**digits * d for digits in range(10) for d in DENOMINATORS})


def whole(numbers: np.ndarray, accept: Callable[[np.ndarray], bool] | None = None) -> tuple[np.ndarray, int] | None:
    """Whole numbers below 2^53 and a scale with numbers ≈ whole / scale, the smallest scale that does it.

    Solvers return 0.333333333412 and mean a third. What is near enough to be meant is a guess: 1e-6 of a unit, and for
    large numbers what is left of a solver's 1e-11 of relative precision, but never a twentieth of a unit. `accept` is
    asked of every guess, so that a wrong one does not end the search.
    """
    most = float(np.abs(numbers).max()) if len(numbers) else 0.0
    sample = numbers[:: max(len(numbers) // 16, 1)]
    likely = _near(sample[:, None] * np.array(SCALES, dtype=float)).all(axis=0)
    for scale in (SCALES[i] for i in np.flatnonzero(likely)):
        if not most * scale < 2.0**53:
            return None
        if _near(numbers * scale).all():
            out = np.rint(numbers * scale) + 0.0
            if accept is None or accept(out):
                return out, scale
    return None


def _near(x: np.ndarray) -> np.ndarray:
    return np.abs(x - np.rint(x)) <= np.minimum(1e-6 + 1e-11 * np.abs(x), 0.05)


def snapped(move: np.ndarray, accept: Callable[[np.ndarray], bool] | None = None) -> tuple[np.ndarray, float] | None:
    """The move as whole numbers without a common divisor, and the step that gives back its size. Whether they satisfy
    the relations is for the checker, or for `accept`, to say."""
    found = whole(move, accept)
    if found is None or not found[0].any():
        return None
    numbers, scale = found
    divisor = int(np.gcd.reduce(numbers.astype(np.int64)))
    return numbers / divisor, divisor / scale
