"""Whole numbers that are too large to be counted.

HiGHS works out what reduced costs say of whole columns in integers of 32 bits: from an end beyond 2³¹ its loop over
them never comes back, and looks at no clock. So it is told that such columns are fractions; who needs them whole makes
them so.
"""

from __future__ import annotations

import numpy as np

COUNTED = 1e9  # ends no further than this are safe: HiGHS adds a thousandth of a range to an end
EXACT = 1e-13  # of the terms of a row: rounding errors of a sum
SOLVED = 1e-9  # what HiGHS is asked for


def uncounted(integer: np.ndarray, lower: np.ndarray, upper: np.ndarray, *others: np.ndarray) -> np.ndarray:
    """Whole columns that are to be solved for as fractions. `others`: right hand sides, say. A column without end is
    fine as long as nothing in the model would give it one that is too far."""
    far = np.maximum(np.abs(lower), np.abs(upper)) > COUNTED
    finite = (np.abs(numbers[np.isfinite(numbers)]).max(initial=0.0) for numbers in (lower, upper, *others))
    return integer & far if max(finite) > COUNTED else np.zeros(len(integer), dtype=bool)


def missed(sums: np.ndarray, rhs: np.ndarray, terms: np.ndarray, equal: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """bool [row]: rows that are not kept. Sums of whole numbers are exact or wrong."""
    room = np.where(equal & whole, 0.0, SOLVED) + EXACT * (terms + np.abs(rhs))
    return np.where(equal, np.abs(sums - rhs), rhs - sums) > room
