"""Intervals whose middle is the value (paper 000): how many there are, and how to move their ends.

With the same levels below and above, most intervals of least cost are symmetric, and everybody who knows that reads the
value off the midpoint. Moving one end outwards keeps every table that was possible, so what was protected stays so.
Which end, and how far, is drawn from the seed.
"""

from __future__ import annotations

import numpy as np

EVEN = 1e-6  # of the width: ends that differ by no more are the same
LEAST, MOST = 0.02, 0.08  # of the width: how far an end is moved


def centred(down: np.ndarray, up: np.ndarray) -> float:
    """The share of intervals that have the value in their middle."""
    used = (down > 0) | (up > 0)
    if not used.any():
        return 0.0
    return float((np.abs(up - down) <= EVEN * (up + down))[used].mean())


def off_centre(down: np.ndarray, up: np.ndarray, widest: np.ndarray | None, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """The same intervals with one end further out; those that may not be wider stay."""
    rng = np.random.default_rng(seed)
    width = down + up
    more = width * rng.uniform(LEAST, MOST, len(width))
    upwards = rng.random(len(width)) < 0.5
    even = (width > 0) & (np.abs(up - down) <= LEAST * width)
    # An interval that leans one way already is moved that way, so that none ends up in the middle.
    upwards = np.where(up > down * (1 + EVEN), True, np.where(down > up * (1 + EVEN), False, upwards))
    if widest is not None:
        even &= width + more <= widest
    more = np.where(even, more, 0.0)
    return np.where(upwards, down, down + more), np.where(upwards, up + more, up)
