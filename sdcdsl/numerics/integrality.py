"""What HiGHS has to be told of whole numbers, and what its word about them is worth.

**Too large to be counted.** HiGHS works out what reduced costs say of whole columns in integers of 32 bits: from an end
beyond 2³¹ its loop over them never comes back, and looks at no deadline. So it is told that such columns are fractions;
who needs them whole makes them so.

**Ends that are not whole.** Between 0 and 560.2 there are the same whole numbers as between 0 and 560, but given the
first HiGHS 1.15 has called problems infeasible that have solutions. Ends are rounded inwards before it sees them.

**No solution.** Its presolve and its search have each done so for other reasons, too. Where a start was known it then
answers "optimal", and names no bound. Either answer is believed when it comes a second time, the other way.
"""

from __future__ import annotations

from math import isfinite
from time import monotonic
from typing import Any

import numpy as np

COUNTED = 1e9  # ends no further than this are safe: HiGHS adds a thousandth of a range to an end
EXACT = 1e-13  # of the terms of a row: rounding errors of a sum
SOLVED = 1e-9  # what HiGHS is required
NEAR = 1e-9  # of an end, or of 1: how far beyond it a whole number is still meant
NOTHING = ("kInfeasible", "kUnboundedOrInfeasible")


def uncounted(integer: np.ndarray, lower: np.ndarray, upper: np.ndarray, *others: np.ndarray) -> np.ndarray:
    """Whole columns that are to be solved for as fractions. `others`: right hand sides, say. A column without end is
    fine as long as nothing in the model would give it one that is too far."""
    far = np.maximum(np.abs(lower), np.abs(upper)) > COUNTED
    finite = (np.abs(numbers[np.isfinite(numbers)]).max(initial=0.0) for numbers in (lower, upper, *others))
    return integer & far if max(finite) > COUNTED else np.zeros(len(integer), dtype=bool)


def whole_ends(integer: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The same ends, of whole columns rounded inwards."""
    least, most = (near * NEAR for near in (np.maximum(np.abs(ends), 1.0) for ends in (lower, upper)))
    with np.errstate(invalid="ignore"):  # inf - inf
        low, high = np.ceil(lower - least), np.floor(upper + most)
    return (
        np.where(integer & np.isfinite(lower), low, lower),
        np.where(integer & np.isfinite(upper), high, upper),
    )


def run_twice(highs: Any) -> None:
    """A mixed-integer problem on a handle of its own. Where the first run says that there is nothing, or nothing but
    the start, the handle has the answer of a second one, without the start and with presolve the other way round."""
    begun = monotonic()
    highs.run()
    limit = highs.getOptionValue("time_limit")[1]
    left = limit - (monotonic() - begun)
    if not _doubtful(highs) or left <= 0:
        return
    before = highs.getOptionValue("presolve")[1]
    highs.clearSolver()
    for option, value in (("presolve", "on" if before == "off" else "off"), ("time_limit", left)):
        highs.setOptionValue(option, value)
    highs.run()
    for option, value in (("presolve", before), ("time_limit", limit)):
        highs.setOptionValue(option, value)


def _doubtful(highs: Any) -> bool:
    """Whatever is optimal has a bound."""
    status = highs.getModelStatus().name
    return status in NOTHING or (status == "kOptimal" and not isfinite(highs.getInfo().mip_dual_bound))


def missed(sums: np.ndarray, rhs: np.ndarray, terms: np.ndarray, equal: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """bool [row]: rows that are not kept. Sums of whole numbers are exact or wrong."""
    slack = np.where(equal & whole, 0.0, SOLVED) + EXACT * (terms + np.abs(rhs))
    return np.where(equal, np.abs(sums - rhs), rhs - sums) > slack
