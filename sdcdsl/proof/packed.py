"""Many numbers as one word of text: {"u2": "AQACAA=="}, the bytes of little-endian numbers in base64.

A list of a hundred thousand numbers takes JSON longer to read than the arithmetic with them.
"""

from __future__ import annotations

import binascii
from typing import Any

import numpy as np

# Unsigned and signed whole numbers of so many bytes, and doubles.
TYPES = {name: np.dtype(f"<{name}") for name in ("u1", "u2", "u4", "i1", "i2", "i4", "f8")}
FEW = 64  # numbers that stay a list: they can be read by people


def packed(values: np.ndarray) -> dict[str, str] | None:
    """None for few of them, which are better listed, and for whole numbers that doubles do not have."""
    if len(values) < FEW or (values.dtype.kind in "iu" and np.abs(values).max() > 2**53):
        return None
    name = _smallest(values)
    text = binascii.b2a_base64(values.astype(TYPES[name]).tobytes(), newline=False)
    return {name: text.decode("ascii")}


def _smallest(values: np.ndarray) -> str:
    if values.dtype.kind == "f" and not (np.rint(values) == values).all():
        return "f8"
    low, high = values.min(), values.max()
    for name in ("u1", "i1", "u2", "i2", "u4", "i4"):
        kind = np.iinfo(TYPES[name])
        if kind.min <= low and high <= kind.max:
            return name
    return "f8"


def unpacked(name: str, text: Any) -> np.ndarray:
    """ValueError if the text is not that of numbers."""
    if not isinstance(text, str):
        raise ValueError("packed numbers are a text")
    return np.frombuffer(binascii.a2b_base64(text, strict_mode=True), dtype=TYPES[name])
