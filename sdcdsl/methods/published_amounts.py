"""Amounts that are published with a table and follow from its values: a base, a range, a least width.

Readers of a rounded or perturbed table are told how far figures may be off. `10% of value` would tell them the value: a
tenth of it is printed. So amounts that differ from cell to cell as values do are taken to the next of 1, 2 or 5 times a
power of ten, which tells no more than the figure itself does: its size. Amounts that are the same for many cells say
nothing of any one of them, and stay as they are.
"""

from __future__ import annotations

import numpy as np

FEW = 3  # different amounts that a policy may well have written down one by one
CROWD = 10  # or one in so many cells
STEPS = np.array([1.0, 2.0, 5.0, 10.0])


def tells(amounts: np.ndarray) -> bool:
    """Whether amounts follow single cells so closely that they give something away."""
    some = amounts[np.isfinite(amounts) & (amounts > 0)]
    different = len(np.unique(some))
    return different > FEW and different * CROWD > len(some)


def public(amounts: np.ndarray) -> np.ndarray:
    """The amounts, or where they would tell too much the next larger round ones."""
    if not tells(amounts):
        return amounts
    out = amounts.copy()
    some = np.isfinite(amounts) & (amounts > 0)
    power = 10.0 ** np.floor(np.log10(amounts[some]))
    digit = amounts[some] / power
    out[some] = STEPS[np.searchsorted(STEPS, digit * (1 - 1e-12), side="left")] * power
    return out
